import type { Federation, FederationServerStatus, FederationSource } from "@xdstp/federation";

import type { Served } from "../snapshot/snapshot-store.ts";
import type { LastWord, LastWords } from "./last-words.ts";
import type { LookUpBook } from "./look-ups.ts";
import type { RelayStatus, UpstreamStatus } from "./relay-status.ts";

/** What {@link statusOf} puts together. */
export interface StatusParts {
  readonly sources: readonly FederationSource[];
  /** All that ask these servers. */
  readonly federations: readonly Pick<Federation, "status">[];
  readonly words: LastWords;
  readonly lookUps: LookUpBook;
  /** What is served from the snapshot. */
  readonly restored: () => readonly Served[];
}

/** The status of a relay, at the cost of the names that are asked upstream. */
export function statusOf({ federations, restored, ...rest }: StatusParts): RelayStatus {
  const parts = { ...rest, served: restored() };
  const servers = new Map<string, FederationServerStatus>();
  for (const server of federations.flatMap((federation) => federation.status()))
    if (servers.get(server.id)?.status === undefined) servers.set(server.id, server);
  return { upstreams: [...servers.values()].map((server) => upstream(server, parts)) };
}

interface UpstreamParts extends Omit<StatusParts, "federations" | "restored"> {
  readonly served: readonly Served[];
}

function upstream(
  server: FederationServerStatus,
  { sources, words, lookUps, served }: UpstreamParts,
): UpstreamStatus {
  const { id, name, failure } = server;
  const own = sources.filter(({ servers }) => servers.some((one) => one.id === id));
  return {
    id,
    name,
    state: stateOf(server),
    lookUps: lookUps.of(id),
    ...sinceWhen(words.of(name), restoredFor(own, sources, served)),
    authorities: [...new Set(own.flatMap(({ authorities = [] }) => authorities))],
    isDefault: own.some(({ authorities }) => authorities === undefined),
    ...(failure !== undefined && { failure }),
  };
}

/** For a server without a response since the start, the cached resources are as old as the snapshot. */
function sinceWhen(word: LastWord, restoredAt: number | undefined): LastWord {
  return word.lastWordAt !== undefined || restoredAt === undefined
    ? word
    : { staleSince: restoredAt };
}

/** Of what time the newest is that is served in the place of these sources. */
function restoredFor(
  own: readonly FederationSource[],
  sources: readonly FederationSource[],
  served: readonly Served[],
): number | undefined {
  const times = served.flatMap(({ authority, restoredAt }) =>
    restoredAt !== undefined && sourcesOf(sources, authority).some((source) => own.includes(source))
      ? [restoredAt]
      : [],
  );
  return times.length === 0 ? undefined : times.reduce((newest, time) => Math.max(newest, time));
}

/** The servers of an authority: those that list it, or those for all else; null: of opaque names. */
function sourcesOf(
  sources: readonly FederationSource[],
  authority: string | null,
): readonly FederationSource[] {
  const listed = sources.filter(({ authorities, opaque }) =>
    authority === null ? opaque === true : authorities?.includes(authority),
  );
  return listed.length > 0
    ? listed
    : sources.filter(({ authorities, opaque }) => authorities === undefined && opaque !== true);
}

function stateOf({ status, failure }: FederationServerStatus): UpstreamStatus["state"] {
  if (failure !== undefined) return "unreachable";
  if (
    status === undefined ||
    (status.types.every(({ wants }) => wants.length === 0) && !status.connected)
  )
    return "idle";
  return status.responded ? "answering" : "connecting";
}
