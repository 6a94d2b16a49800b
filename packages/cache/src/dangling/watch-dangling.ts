import type { Entry, ResourceSource, ResourceType, Topic } from "@xdstp/core";

import {
  type ChangedResource,
  type DanglingEvent,
  type DanglingWatch,
  References,
  type ReferencesBody,
  type ReferencesOptions,
} from "./references.ts";

/**
 * Watches for references to names that do not exist, in types with `references`. It reads only what
 * has changed: once per turn of the event loop, in the turn after a transaction, all changes of the
 * transaction.
 *
 * It ignores references with a ConfigSource of their own, globs, xdstp names of other authorities
 * than those of the source and of the referring resource, names with context parameters, and types
 * of which the source does not know all names. Names that clients find only at run time (VHDS,
 * on-demand discovery) are not references.
 * A name that exists only as an alias of another resource counts as missing.
 * For content per node see {@link NodeCaches.watchDangling}.
 */
export function watchDangling(
  source: Pick<ResourceSource, "topic" | "authorities">,
  types: readonly ResourceType[],
  onEvent: (event: DanglingEvent) => void = () => undefined,
): DanglingWatch {
  const followed = followSource(source, types, onEvent);
  return {
    list: () => followed.references.list(),
    close() {
      followed.close();
    },
  };
}

/** The references of a source to itself, and the functions that look up a name in it. */
export interface SourceReferences {
  readonly references: References;
  readonly within: Pick<ReferencesOptions, "types" | "authorities" | "isSettled" | "isServed">;
  /** Ends the watch. Nothing is reported after that. */
  close(): void;
}

/** Follows all these types of a source, beginning with the present state. */
export function followSource(
  source: Pick<ResourceSource, "topic" | "authorities">,
  types: readonly ResourceType[],
  onEvent: ReferencesOptions["onEvent"],
  onChecked?: ReferencesBody["onChecked"],
): SourceReferences {
  const followed = new Map<string, Followed>(
    types.map((type) => [
      type.typeUrl,
      { type, topic: source.topic(type.typeUrl, { name: "*" }), read: 0 },
    ]),
  );
  const topicOf = (typeUrl: string): Topic | undefined => followed.get(typeUrl)?.topic;
  const within = {
    types,
    authorities: source.authorities,
    isSettled: (typeUrl: string) => topicOf(typeUrl)?.settled === true,
    isServed: (typeUrl: string, name: string) =>
      topicOf(typeUrl)?.get(name)?.resource !== undefined,
  };
  const references: References = new References(
    { ...within, onEvent },
    {
      changed: () => [...followed.values()].flatMap((type) => changesOf(type, references)),
      ...(onChecked && { onChecked }),
    },
  );
  const watcher = {
    wake: () => {
      references.wake();
    },
  };
  for (const { topic } of followed.values()) topic.watch(watcher);
  references.check();
  return {
    references,
    within,
    close() {
      references.close();
      for (const { topic } of followed.values()) topic.unwatch(watcher);
    },
  };
}

interface Followed {
  readonly type: ResourceType;
  readonly topic: Topic;
  /** The revision up to which the topic was read. */
  read: number;
}

function changesOf(followed: Followed, references: References): readonly ChangedResource[] {
  const { type, topic, read } = followed;
  const changes = topic.changes(read);
  followed.read = topic.head;
  if (changes !== undefined) return changes.map((entry) => changed(type, entry));
  const gone = [...references.names(type.typeUrl)].filter(
    (name) => topic.get(name)?.resource === undefined,
  );
  return [
    ...Array.from(topic.members(), (entry) => changed(type, entry)),
    ...gone.map((name) => ({ type, name })),
  ];
}

function changed(type: ResourceType, { name, resource }: Entry): ChangedResource {
  return { type, name, ...(resource && { resource }) };
}
