import type { ChannelTls, GrpcChannel } from "@xdstp/grpc/client";
import type { BootstrapCredentials } from "../grpc/bootstrap.ts";
import { followTlsFiles, type FollowTlsOptions } from "./follow-tls-files.ts";
import { readTlsFiles } from "./read-tls-files.ts";

/** The credentials of a server, ready for a channel. */
export interface LoadedCredentials {
  /** The option `tls` of the channel; absent: without TLS. */
  readonly tls?: ChannelTls;
  /** Keeps the certificates of a channel as new as their files, until closed. Does nothing where there are none. */
  follow(
    channel: Pick<GrpcChannel, "replaceTls">,
    options?: Pick<FollowTlsOptions, "clock" | "onEvent">,
  ): { close(): void };
}

/** Reads the files of credentials. Throws an XdsError, NOT_FOUND, that names the one that cannot be read; whether they fit together the channel says. */
export function loadCredentials(credentials: BootstrapCredentials): LoadedCredentials {
  if (credentials.type === "insecure") return { follow: () => ({ close: () => undefined }) };
  const first = readTlsFiles(credentials);
  return {
    tls: first,
    follow: (channel, options = {}) =>
      followTlsFiles({
        ...options,
        credentials,
        first,
        apply: (tls) => {
          channel.replaceTls(tls);
        },
      }),
  };
}
