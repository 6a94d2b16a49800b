import type { ClientStatus } from "@xdstp/protocol/client";
import type { Interest } from "@xdstp/core";

import type { FederationServer, OpenServer } from "../federation-source.ts";
import { SharedServer } from "./shared-server.ts";
import type { Tenant } from "./tenant.ts";

/** Servers of several federations, such as those of one program: each has one stream, whoever asks it (C-AGG-1). For the option `servers` of {@link createFederation}. */
export interface SharedServers {
  /**
   * Opens a server, or joins those that have it open. Servers are the same by their `id`.
   * @param inWildcard - Which names `*` covers, by {@link Federation.inWildcard}. Default: all
   */
  open(server: FederationServer, inWildcard?: (name: string) => boolean): OpenServer;
  /** The subscriptions of all of them at a server. undefined: it is not in use. */
  status(id: string): ClientStatus | undefined;
}

/** Makes {@link SharedServers} of which none is open. */
export function createSharedServers(): SharedServers {
  const open = new Map<string, SharedServer>();
  const make = (server: FederationServer): SharedServer => {
    const shared = new SharedServer(server.open(), () => {
      open.delete(server.id);
    });
    open.set(server.id, shared);
    return shared;
  };
  return {
    open: (server, inWildcard = () => true) =>
      joinLater(() => open.get(server.id) ?? make(server), inWildcard),
    status: (id) => open.get(id)?.status,
  };
}

/** A server that is opened, or joined, when it runs. */
function joinLater(find: () => SharedServer, inWildcard: (name: string) => boolean): OpenServer {
  let joined: { readonly shared: SharedServer; readonly tenant: Tenant } | undefined;
  let early: [typeUrl: string, added: readonly Interest[], dropped: readonly Interest[]][] = [];
  const leave = (): void => {
    joined?.shared.leave(joined.tenant);
  };
  return {
    close: leave,
    feed: {
      async run(sink, signal) {
        if (signal.aborted) return;
        const shared = find();
        const tenant = shared.join(sink, inWildcard);
        joined = { shared, tenant };
        for (const updates of early) shared.want(tenant, ...updates);
        early = [];
        await new Promise<void>((resolve) => {
          signal.addEventListener(
            "abort",
            () => {
              leave();
              resolve();
            },
            { once: true },
          );
        });
      },
      want(...updates) {
        if (joined === undefined) early.push(updates);
        else joined.shared.want(joined.tenant, ...updates);
      },
      get responded() {
        return joined?.shared.responded;
      },
      status: () => joined?.shared.statusFor(joined.tenant),
      nodeChanged: () => {
        joined?.shared.nodeChanged();
      },
    },
  };
}
