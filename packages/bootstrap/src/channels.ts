import { createGrpcChannel, type ChannelLimits, type GrpcChannel } from "@xdstp/grpc/client";
import type { Clock } from "@xdstp/core";

import type { BootstrapServer } from "./grpc/bootstrap.ts";
import { credentialsKey } from "./server-config.ts";
import { type CredentialsEvent, loadCredentials } from "./channel-credentials.ts";

/** Channels to servers: equal servers share one, however many clients there are (C-GRPC-12). */
export interface Channels {
  /** Throws an XdsError where the target or the certificates are broken. */
  acquire(server: BootstrapServer): Pick<GrpcChannel, "open"> & {
    /** This user needs the channel no more; the last one closes it. */
    release(): void;
  };
}

interface Slot {
  readonly channel: GrpcChannel;
  readonly end: () => void;
  users: number;
}

/** Channels that are shared by all who are given these. */
export function createChannels({
  clock,
  limits,
  onEvent,
}: {
  /** The clock of deadlines. Default: that of the machine. */
  readonly clock?: Clock;
  /** Other values of the limits of `@xdstp/grpc/client`, for each channel. Default: those of its `ChannelLimits`. */
  readonly limits?: Partial<ChannelLimits>;
  /** Notified when certificates are replaced or rejected. */
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
