import type { FederationServerStatus, SharedServers } from "@xdstp/federation";

import type { FedHub } from "./hubs.ts";

/** The servers of all hubs, each once: those of the bootstrap in its order, then those that only ConfigSources have, while they are in use. */
export function serverStatuses(
  hubs: Iterable<FedHub>,
  servers: SharedServers,
): readonly FederationServerStatus[] {
  const all = new Map<string, FederationServerStatus>();
  for (const [index, { federation }] of [...hubs].entries()) {
    for (const one of federation.status())
      if (index === 0 || isInUse(one)) all.set(one.id, { ...all.get(one.id), ...one });
  }
  return Array.from(all.values(), (one) => ({ ...one, ...withStatus(servers.status(one.id)) }));
}

function isInUse({ status, failure }: FederationServerStatus): boolean {
  return status !== undefined || failure !== undefined;
}

function withStatus(
  status: FederationServerStatus["status"],
): Pick<FederationServerStatus, "status"> {
  return status === undefined ? {} : { status };
}
