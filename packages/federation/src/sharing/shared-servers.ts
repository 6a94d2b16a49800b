import type { ClientStatus } from "@xdstp/protocol/client";
import type { Interest } from "@xdstp/core";

import type { FederationServer, OpenServer } from "../federation-source.ts";
import { SharedServer } from "./shared-server.ts";
import type { Tenant } from "./tenant.ts";

/**
 * The servers of several federations, such as those of one program. Each server has one stream for
 * all of them (C-AGG-1). For the option `servers` of {@link createFederation}.
 */
export interface SharedServers {
  /**
   * Opens a server, or joins the federations that have it open. Servers with the same `id` are the
   * same.
   * @param inWildcard - Returns true for a name that `*` covers, by {@link Federation.inWildcard}.
   * Default: all names
   */
  open(server: FederationServer, inWildcard?: (name: string) => boolean): OpenServer;
  /**
   * Returns the state of a server with the subscriptions of all federations. `undefined`: the
   * server is not in use.
   */
  status(id: string): ClientStatus | undefined;
}

/** Creates {@link SharedServers}; none of the servers is open. */
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

/** Returns a server that is opened, or joined, when its feed runs. */
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
