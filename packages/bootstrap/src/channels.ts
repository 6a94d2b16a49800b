import { createGrpcChannel, type ChannelLimits, type GrpcChannel } from "@xdstp/grpc/client";
import type { Clock } from "@xdstp/core";

import type { BootstrapServer } from "./grpc/bootstrap.ts";
import { credentialsKey } from "./server-config.ts";
import { type CredentialsEvent, loadCredentials } from "./channel-credentials.ts";

/** Channels to servers. Clients of equal servers share one channel (C-GRPC-12). */
export interface Channels {
  /**
   * Returns the channel to a server. Throws an XdsError if the target or the certificates are
   * invalid.
   */
  acquire(server: BootstrapServer): Pick<GrpcChannel, "open"> & {
    /** Releases the channel. It is closed when its last user has released it. */
    release(): void;
  };
}

interface Slot {
  readonly channel: GrpcChannel;
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
  const make = ({ uri, credentials }: BootstrapServer): Slot => {
    const loaded = loadCredentials(credentials);
    const channel = createGrpcChannel({
      target: uri,
      ...(loaded.tls !== undefined && { tls: loaded.tls }),
      ...(clock !== undefined && { clock }),
      ...(limits !== undefined && { limits }),
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
      const key = JSON.stringify([server.uri, credentialsKey(server.credentials)]);
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
