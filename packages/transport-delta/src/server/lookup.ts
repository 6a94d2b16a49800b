import type { Entry, Topic } from "@xdstp/core";
import { coveringTopics, topicsOf } from "@xdstp/protocol/server";
import { globOf, isGlob, nameKey } from "@xdstp/uri";
import type { DeltaState } from "./delta-state.ts";

/** Returns true if an interest is a set of names: a glob or the wildcard. */
export function isCollection(name: string): boolean {
  return name === "*" || isGlob(name);
}

/**
 * Returns true if a subscription of this type covers the name. The source decides which names `*`
 * covers, and a removed name counts as covered.
 */
export function isCovered(state: DeltaState, name: string): boolean {
  const key = nameKey(name);
  return (
    state.topics.has("*") ||
    state.topics.has(key) ||
    state.aliased?.has(key) === true ||
    globTopic(state, name) !== undefined ||
    (state.located !== undefined && coveringTopics(state, name).length > 0)
  );
}

/** Returns the newest state of a name, as this client is to see it. undefined: it is not known. */
export function lookUp(state: DeltaState, name: string): Entry | undefined {
  const key = nameKey(name);
  if (state.located !== undefined && !isCollection(name)) return lookUpAll(state, name)?.[0];
  const exact = state.topics.get(key);
  if (exact !== undefined && !isCollection(name))
    return state.unsettled.has(exact) ? undefined : exact.members()[0];
  return (
    globTopic(state, name)?.get(name) ??
    state.topics.get("*")?.get(name) ??
    byAlias(state, key, name) ??
    removal(state, name)
  );
}

/**
 * Returns the newest states of a name for all of its subscriptions, which may be shown different
 * variants. Only states with a resource, if there are any. undefined: they are not known.
 */
export function lookUpAll(state: DeltaState, name: string): readonly Entry[] | undefined {
  const key = nameKey(name);
  const exact = topicsOf(state, key);
  if (exact.length > 0 && exact.every((topic) => state.unsettled.has(topic))) return undefined;
  const said = exact.flatMap((topic) => (state.unsettled.has(topic) ? [] : topic.members()));
  const entries = [
    ...said,
    ...coveringTopics(state, name).flatMap((topic) => topic.get(name) ?? []),
  ].filter(({ resource }) => resource !== undefined);
  return [
    ...new Set(
      entries.length > 0 ? entries : [said[0] ?? byAlias(state, key, name) ?? removal(state, name)],
    ),
  ];
}

/**
 * Returns the removed variants of a name that a client with these subscriptions may have (S-DYN-5).
 */
export function goneOf(state: DeltaState, name: string): readonly Entry[] {
  const topics =
    state.located === undefined
      ? [state.topics.get(nameKey(name)), globTopic(state, name), state.topics.get("*")]
      : coveringTopics(state, name);
  return [...new Set(topics.flatMap((topic) => topic?.gone?.(name) ?? []))];
}

/** Returns an entry that says that a name does not exist. */
export function removal(state: DeltaState, name: string): Entry {
  return { revision: state.context.source.revision, since: 0, superseded: false, name };
}

function byAlias({ aliased }: DeltaState, key: string, name: string): Entry | undefined {
  for (const topic of aliased?.get(key) ?? []) {
    const entry = topic.get(name);
    if (entry !== undefined) return entry;
  }
  return undefined;
}

function globTopic(state: DeltaState, name: string): Topic | undefined {
  const glob = globOf(name);
  return glob === undefined ? undefined : state.topics.get(glob);
}
