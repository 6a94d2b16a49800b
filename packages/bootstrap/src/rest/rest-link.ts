import type { Clock } from "@xdstp/core";
import { type ChannelTls, type GrpcChannel, parseTarget } from "@xdstp/grpc/client";
import { createRestChannel, type RestChannel } from "@xdstp/transport-rest/client";

import type { RestPolls } from "../server-config.ts";
import { createNodeFetch } from "./node-fetch.ts";

/** A channel whose streams are polls. */
export type RestLink = Pick<RestChannel, "open"> & Pick<GrpcChannel, "replaceTls" | "close">;

/**
 * Creates a channel to a server that is polled over REST (C-REST-6).
 * Throws an XdsError, INVALID_ARGUMENT, if the target or the certificates are invalid.
 */
export function createRestLink({
  uri,
  polls,
  tls,
  clock,
  answerBytes,
}: {
  readonly uri: string;
  readonly polls: RestPolls;
  /** Absent: without TLS. */
  readonly tls?: ChannelTls | undefined;
  readonly clock?: Clock | undefined;
  /** The maximum size of an answer in bytes. Absent: the default of the channel. */
  readonly answerBytes?: number | undefined;
}): RestLink {
  const target = parseTarget(uri);
  const http = createNodeFetch(target, tls);
  const channel = createRestChannel({
    url: `${tls === undefined ? "http" : "https"}://${target.authority}`,
    ...polls,
    fetch: http.fetch,
    ...(clock !== undefined && { clock }),
    ...(answerBytes !== undefined && { answerBytes }),
  });
  return {
    open: (call, handler) => channel.open(call, handler),
    replaceTls: (next) => {
      http.replaceTls(next);
    },
    close() {
      channel.close();
      http.close();
      return Promise.resolve();
    },
  };
}
