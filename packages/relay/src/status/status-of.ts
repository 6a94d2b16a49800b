import { type Clock, forwardSource, type ResourceSource } from "@xdstp/core";
import type {
  ClientNotice,
  Federation,
  FederationServerStatus,
  FederationSource,
} from "@xdstp/federation";
import { authorityOf } from "@xdstp/uri";

import type { Relay, RelayEvent, UpstreamStatus } from "../relay.ts";
import type { Served } from "@xdstp/snapshot";

/** The parameters of {@link statusOf}. */
interface StatusParts {
  readonly sources: readonly FederationSource[];
  /** All federations that use these servers. */
  readonly federations: readonly Pick<Federation, "status">[];
  readonly words: LastWords;
  readonly lookUps: LookUpBook;
  /** Returns the interests that are served from the snapshot. */
  readonly restored: () => readonly Served[];
}

/**
 * Returns the status of a relay. The cost grows with the number of names that are subscribed
 * upstream.
 */
export function statusOf({
  federations,
  restored,
  ...rest
}: StatusParts): ReturnType<Relay["status"]> {
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

/**
 * If a server has sent no response since the start, its cached resources are as old as the
 * snapshot.
 */
function sinceWhen(word: LastWord, restoredAt: number | undefined): LastWord {
  return word.lastWordAt !== undefined || restoredAt === undefined
    ? word
    : { staleSince: restoredAt };
}

/** Returns the time of the newest restored resource of these sources. */
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

/**
 * Returns the sources of an authority: those that list it, or else the default sources. `null`:
 * opaque names.
 */
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

function stateOf({ status, answers, failure }: FederationServerStatus): UpstreamStatus["state"] {
  if (failure !== undefined) return "unreachable";
  if (answers !== undefined) return answers ? "answering" : "connecting";
  if (
    status === undefined ||
    (status.types.every(({ wants }) => wants.length === 0) && !status.connected)
  )
    return "idle";
  return status.responded ? "answering" : "connecting";
}

/** Counts the subscriptions of clients. */
export interface LookUpBook {
  /** Wraps a source, to count its topics. */
  over(source: ResourceSource): ResourceSource;
  /** Returns the counts for the names of a server, by its id. */
  of(server: string): UpstreamStatus["lookUps"];
}

/**
 * Creates a table with one count for each source. Its size does not depend on the authorities in
 * the names of clients.
 */
export function createLookUpBook(sources: readonly FederationSource[]): LookUpBook {
  const counts = sources.map(({ servers, authorities, opaque }) => ({
    ids: new Set(servers.map(({ id }) => id)),
    authorities,
    opaque,
    held: 0,
    asked: 0,
  }));
  const listed = new Map(
    counts.flatMap((count) =>
      (count.authorities ?? []).map((authority) => [authority, count] as const),
    ),
  );
  const standard = counts.find(
    ({ authorities, opaque }) => authorities === undefined && opaque !== true,
  );
  const opaque = counts.find((count) => count.opaque) ?? standard;
  const countOf = (name: string): typeof standard => {
    if (!name.startsWith("xdstp:")) return opaque;
    const authority = authorityOf(name);
    return (authority === undefined ? undefined : listed.get(authority)) ?? standard;
  };
  return {
    over: (source) =>
      observed(source, (name, isHeld) => {
        const count = countOf(name);
        if (count !== undefined) count[isHeld ? "held" : "asked"] += 1;
      }),
    of(server) {
      const own = counts.filter(({ ids }) => ids.has(server));
      return {
        held: own.reduce((sum, { held }) => sum + held, 0),
        asked: own.reduce((sum, { asked }) => sum + asked, 0),
      };
    },
  };
}

/** A reader opens a topic once for each name that it subscribes to. */
function observed(
  source: ResourceSource,
  note: (name: string, isHeld: boolean) => void,
): ResourceSource {
  return forwardSource(source, {
    topic(typeUrl, interest) {
      const topic = source.topic(typeUrl, interest);
      note(interest.name, topic.settled);
      return topic;
    },
  });
}

/** The time of the last message of a server. Times are milliseconds since the epoch. */
interface LastWord {
  readonly lastWordAt?: number;
  readonly staleSince?: number;
}

/** Records when servers send responses, and when their streams end. */
export interface LastWords {
  note(event: RelayEvent | ClientNotice): void;
  /** Returns the times of a server, by its URI. */
  of(server: string): LastWord;
}

/** Creates an empty table. Its keys are servers of the configuration, so it does not grow. */
export function createLastWords(clock: Clock): LastWords {
  const words = new Map<string, LastWord>();
  return {
    note(event) {
      if (!("server" in event)) return;
      const { server, kind } = event;
      const { lastWordAt, staleSince = clock.wallTime() } = words.get(server) ?? {};
      if (kind === "accepted" || kind === "rejected")
        words.set(server, { lastWordAt: clock.wallTime() });
      else if (kind === "closed")
        words.set(server, { ...(lastWordAt !== undefined && { lastWordAt }), staleSince });
      else if (kind === "idle")
        words.set(server, { ...(lastWordAt !== undefined && { lastWordAt }) });
    },
    of: (server) => words.get(server) ?? {},
  };
}
