import type { ResourceSource, ResourceType, Topic } from "@xdstp/core";

import type { DanglingEvent, DanglingWatch } from "./dangling-reference.ts";
import { References, type ReferencesOptions } from "./references.ts";

/**
 * Watches what refers to what is not there, for types with `references`; costs what changes, and looks once per turn of the event loop at all that a transaction has changed.
 *
 * Left out: references with a ConfigSource of their own, globs, xdstp names of other authorities than that of the source or of the referring resource, names with context parameters,
 * and types of which the source does not know all names. What clients find only when they run (VHDS, on-demand discovery) is not a reference.
 * For content per node see {@link NodeCaches.watchDangling}.
 */
export function watchDangling(source: Pick<ResourceSource, "topic" | "authorities">, types: readonly ResourceType[], onEvent: (event: DanglingEvent) => void = () => undefined): DanglingWatch {
  return new References(referencesWithin(source, types, onEvent));
}

/** The references of a source to itself. */
export function referencesWithin(source: Pick<ResourceSource, "topic" | "authorities">, types: readonly ResourceType[], onEvent: (event: DanglingEvent) => void): ReferencesOptions {
  const topics = topicsOf((typeUrl) => source.topic(typeUrl, { name: "*" }), types);
  return {
    types, onEvent, authorities: source.authorities, referring: topics,
    isServed(typeUrl, name) {
      const topic = topics(typeUrl);
      return topic.settled ? topic.get(name)?.resource !== undefined : undefined;
    },
  };
}

/** Topics, held: who does not hold one that is not watched gets another one. */
export function topicsOf(open: (typeUrl: string) => Topic, types: readonly ResourceType[]): (typeUrl: string) => Topic {
  const topics = new Map(types.map(({ typeUrl }) => [typeUrl, open(typeUrl)]));
  return (typeUrl) => topics.get(typeUrl) ?? open(typeUrl);
}
