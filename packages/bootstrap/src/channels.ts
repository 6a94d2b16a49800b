import { createGrpcChannel, type ChannelLimits } from "@xdstp/grpc/client";
import { type Clock, systemClock, XdsError } from "@xdstp/core";

import { createRestLink } from "./rest/rest-link.ts";
import { credentialsKey, fileKey, restKey } from "./server-config.ts";
import { type CredentialsEvent, loadCredentials } from "./channel-credentials.ts";
import type { Transport, TransportConnection, TransportServer } from "./transport.ts";

/** Channels to servers. Clients of equal servers share one channel (C-GRPC-12). */
export interface Channels {
  /**
   * Returns the channel to a server, over gRPC, as polls over REST, or over a transport. Throws an
   * XdsError if the target or the certificates are invalid.
   */
  acquire(server: TransportServer): Pick<TransportConnection, "open"> & {
    /** Releases the channel. It is closed when its last user has released it. */
    release(): void;
  };
}

interface Slot {
  readonly connection: TransportConnection;
  users: number;
}

/** Creates channels, which all users of the returned object share. */
export function createChannels({
  clock,
  limits,
  onEvent,
  transports = {},
}: {
  /** The clock of deadlines. Default: the system clock. */
  readonly clock?: Clock;
  /** Limits of `@xdstp/grpc/client`, for each channel. Each one given here replaces its default. */
  readonly limits?: Partial<ChannelLimits>;
  /** Receives an event when certificates are replaced or rejected. */
  readonly onEvent?: (server: string, event: CredentialsEvent) => void;
  /**
   * Other transports, by name. The name is the scheme of the URIs of its servers, such as `ws` for
   * `ws://HOST`, or the type of their `channel_creds`, or `file` for `path_config_source`: see
   * `createFileTransport` of `@xdstp/transport-file/client`. Default: gRPC and REST only.
   */
  readonly transports?: Readonly<Record<string, Transport>>;
} = {}): Channels {
  const slots = new Map<string, Slot>();
  const byName = new Map(Object.entries(transports));
  const connect = (server: TransportServer): TransportConnection => {
    const transport = transportOf(server, byName);
    return transport === undefined
      ? dial(server)
      : transport(server, {
          clock: clock ?? systemClock,
          ...(limits?.maxMessageBytes !== undefined && { maxMessageBytes: limits.maxMessageBytes }),
        });
  };
  const dial = ({ uri, credentials, rest }: TransportServer): TransportConnection => {
    const loaded = loadCredentials(credentials);
    const channel =
      rest === undefined
        ? createGrpcChannel({
            target: uri,
            ...(loaded.tls !== undefined && { tls: loaded.tls }),
            ...(clock !== undefined && { clock }),
            ...(limits !== undefined && { limits }),
          })
        : createRestLink({
            uri,
            polls: rest,
            tls: loaded.tls,
            clock,
            answerBytes: limits?.maxMessageBytes,
          });
    const following = loaded.follow(channel, {
      ...(clock !== undefined && { clock }),
      ...(onEvent !== undefined && {
        onEvent: (event) => {
          onEvent(uri, event);
        },
      }),
    });
    return {
      open: (call, handler) => channel.open(call, handler),
      close() {
        following.close();
        void channel.close();
      },
    };
  };
  return {
    acquire(server) {
      const { uri, credentials, rest, file } = server;
      const key = JSON.stringify([
        uri,
        credentialsKey(credentials),
        rest && restKey(rest),
        file && fileKey(file),
      ]);
      const slot = slots.get(key) ?? { connection: connect(server), users: 0 };
      slots.set(key, slot);
      slot.users++;
      let released = false;
      return {
        open: (call, handler) => slot.connection.open(call, handler),
        release() {
          if (released) return;
          released = true;
          slot.users--;
          if (slot.users > 0) return;
          slots.delete(key);
          try {
            slot.connection.close();
          } catch {
            // It was the last user, so a transport of a third party that fails to close affects no client.
          }
        },
      };
    },
  };
}

/**
 * Returns the transport of a server. `undefined`: it is a server of gRPC or REST. Throws an
 * XdsError, UNIMPLEMENTED, if the transport that the server needs is not among them.
 */
function transportOf(
  { uri, credentials, file }: TransportServer,
  byName: ReadonlyMap<string, Transport>,
): Transport | undefined {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(uri)?.[1]?.toLowerCase() ?? "";
  const required =
    credentials.type === "transport" ? credentials.name : file === undefined ? undefined : "file";
  const transport = byName.get(required ?? scheme);
  if (transport !== undefined || required === undefined) return transport;
  throw new XdsError(
    "UNIMPLEMENTED",
    `${JSON.stringify(uri)} needs the transport ${JSON.stringify(required)}; give it to createChannels({ transports })${required === "file" ? ": createFileTransport() of @xdstp/transport-file/client" : ""}`,
  );
}
