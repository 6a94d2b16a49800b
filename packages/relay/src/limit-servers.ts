import type { Clock } from "@xdstp/core";
import type { FederationServer, FederationSource, OpenServer } from "@xdstp/federation";

import { limitNames } from "./limit-names.ts";
import type { NameLimits } from "./name-room.ts";
import type { RelayEvent } from "./relay.ts";

/** Options of {@link limitServers}. */
export interface LimitServersOptions {
  /** The limits of each server. */
  readonly limits: NameLimits;
  readonly clock: Clock;
  readonly onFull: (event: Extract<RelayEvent, { readonly kind: "upstream-full" }>) => void;
}

/** Limits the subscriptions at each server of these sources separately, since a server counts only the names on its own stream. */
export function limitServers(
  sources: readonly FederationSource[],
  options: LimitServersOptions,
): readonly FederationSource[] {
  return sources.map((source) => ({
    ...source,
    servers: source.servers.map((server) => ({
      ...server,
      open: () => openLimited(server, options),
    })),
  }));
}

function openLimited(
  server: FederationServer,
  { limits, clock, onFull }: LimitServersOptions,
): OpenServer {
  const open = server.open();
  const limited = limitNames(open.feed, limits, clock, (typeUrl, names, reason) => {
    onFull({ kind: "upstream-full", server: server.name, typeUrl, names, reason });
  });
  return {
    feed: {
      run: async (sink, signal) => limited.run(sink, signal),
      want: (...updates) => {
        limited.want?.(...updates);
      },
      get responded() {
        return open.feed.responded;
      },
      status: () => open.feed.status?.(),
      nodeChanged: () => {
        open.feed.nodeChanged?.();
      },
    },
    close: () => {
      open.close();
    },
  };
}
