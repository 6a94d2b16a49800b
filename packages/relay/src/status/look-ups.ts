import { forwardSource, type ResourceSource } from "@xdstp/core";
import type { FederationSource } from "@xdstp/federation";
import { authorityOf } from "@xdstp/uri";

import type { UpstreamStatus } from "./relay-status.ts";

/** Counts what clients begin to ask for. */
export interface LookUpBook {
  /** The same source, which counts. */
  over(source: ResourceSource): ResourceSource;
  /** Of names that a server is for, by its id. */
  of(server: string): UpstreamStatus["lookUps"];
}

/** An empty book. It has one count for each source, whatever authorities clients name. */
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

/** Readers ask for a topic once for each name that they begin to want. */
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
