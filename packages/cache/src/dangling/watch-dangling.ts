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
  return followSource(source, types, { onEvent }).references;
}

/** The references of a source to itself, and how it is asked for a name. */
export interface SourceReferences {
  readonly references: References;
  readonly within: Pick<ReferencesOptions, "types" | "authorities" | "isSettled" | "isServed">;
}

/** Follows all types of a source, beginning with what is there. */
export function followSource(source: Pick<ResourceSource, "topic" | "authorities">, types: readonly ResourceType[], more: Pick<ReferencesOptions, "onEvent" | "onLooked">): SourceReferences {
  const topics = new Map<string, Topic>(types.map(({ typeUrl }) => [typeUrl, source.topic(typeUrl, { name: "*" })]));
  const within = {
    types, authorities: source.authorities,
    isSettled: (typeUrl: string) => topics.get(typeUrl)?.settled === true,
    isServed: (typeUrl: string, name: string) => topics.get(typeUrl)?.get(name)?.resource !== undefined,
  };
  const references = new References({ ...within, ...more });
  for (const [typeUrl, topic] of topics) references.follow(typeUrl, () => topic);
  references.look();
  return { references, within };
}
