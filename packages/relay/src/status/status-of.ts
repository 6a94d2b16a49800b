import type { Federation, FederationServerStatus, FederationSource } from "@xdstp/federation";

import type { LastWords } from "./last-words.ts";
import type { LookUpBook } from "./look-ups.ts";
import type { RelayStatus, UpstreamStatus } from "./relay-status.ts";

/** What {@link statusOf} puts together. */
export interface StatusParts {
  readonly sources: readonly FederationSource[];
  /** All that ask these servers. */
  readonly federations: readonly Pick<Federation, "status">[];
  readonly words: LastWords;
  readonly lookUps: LookUpBook;
}

/** The status of a relay, at the cost of the names that are asked upstream. */
export function statusOf({ federations, ...parts }: StatusParts): RelayStatus {
  const servers = new Map<string, FederationServerStatus>();
  for (const server of federations.flatMap((federation) => federation.status())) if (servers.get(server.id)?.status === undefined) servers.set(server.id, server);
  return { upstreams: [...servers.values()].map((server) => upstream(server, parts)) };
}

function upstream(server: FederationServerStatus, { sources, words, lookUps }: Omit<StatusParts, "federations">): UpstreamStatus {
  const { id, name, failure } = server;
  const own = sources.filter(({ servers }) => servers.some((one) => one.id === id));
  return {
    id, name, state: stateOf(server), lookUps: lookUps.of(id), ...words.of(name),
    authorities: [...new Set(own.flatMap(({ authorities = [] }) => authorities))], isDefault: own.some(({ authorities }) => authorities === undefined),
    ...(failure !== undefined && { failure }),
  };
}

function stateOf({ status, failure }: FederationServerStatus): UpstreamStatus["state"] {
  if (failure !== undefined) return "unreachable";
  if (status === undefined || (status.types.every(({ wants }) => wants.length === 0) && !status.connected)) return "idle";
  return status.responded ? "answering" : "connecting";
}
