import { createGrpcChannel, type ChannelLimits } from "@xdstp/grpc/client";
import type { Clock } from "@xdstp/core";

import { createRestLink, type RestLink } from "./rest/rest-link.ts";
import { credentialsKey, restKey, type ServerConfig } from "./server-config.ts";
import { type CredentialsEvent, loadCredentials } from "./channel-credentials.ts";

/** Channels to servers. Clients of equal servers share one channel (C-GRPC-12). */
export interface Channels {
  /**
   * Returns the channel to a server, over gRPC or as polls over REST. Throws an XdsError if the
   * target or the certificates are invalid.
   */
  acquire(server: ChannelServer): Pick<RestLink, "open"> & {
    /** Releases the channel. It is closed when its last user has released it. */
    release(): void;
  };
}

/** The part of the configuration of a server that its connection depends on. */
type ChannelServer = Pick<ServerConfig, "uri" | "credentials" | "features" | "rest">;

interface Slot {
  readonly channel: Pick<RestLink, "open">;
  readonly end: () => void;
  users: number;
}

/** Creates channels, which all users of the returned object share. */
export function createChannels({
  clock,
  limits,
  onEvent,
}: {
  /** The clock of deadlines. Default: the system clock. */
  readonly clock?: Clock;
  /** Limits of `@xdstp/grpc/client`, for each channel. Each one given here replaces its default. */
  readonly limits?: Partial<ChannelLimits>;
  /** Receives an event when certificates are replaced or rejected. */
  readonly onEvent?: (server: string, event: CredentialsEvent) => void;
} = {}): Channels {
  const slots = new Map<string, Slot>();
  const make = ({ uri, credentials, rest }: ChannelServer): Slot => {
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
      channel,
      users: 0,
      end: () => {
        following.close();
        void channel.close();
      },
    };
  };
  return {
    acquire(server) {
      const { uri, credentials, rest } = server;
      const key = JSON.stringify([uri, credentialsKey(credentials), rest && restKey(rest)]);
      const slot = slots.get(key) ?? make(server);
      slots.set(key, slot);
      slot.users++;
      let released = false;
      return {
        open: (call, handler) => slot.channel.open(call, handler),
        release() {
          if (released) return;
          released = true;
          slot.users--;
          if (slot.users > 0) return;
          slots.delete(key);
          slot.end();
        },
      };
    },
  };
}
