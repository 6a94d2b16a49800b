import type { Entry, Topic } from "@xdstp/core";
import { nameKey } from "@xdstp/uri";
import type { DeltaState } from "./delta-state.ts";
import { isCollection } from "./lookup.ts";

/**
 * Notes which of these resources are subscribed by an alias, so that the subscriptions are found by
 * their own names too (S-ALIAS-1).
 */
export function noteAliases(state: DeltaState, entries: readonly Entry[]): void {
  for (const { name, resource } of entries.length < SHORT ? entries : withAliases(entries))
    for (const alias of resource?.aliases ?? []) note(state, name, alias);
}

/** Arrays with fewer entries are searched each time. */
const SHORT = 8;

const known = new WeakMap<readonly Entry[], readonly Entry[]>();

/** Returns the entries that have aliases; computed once per array, since streams share arrays. */
function withAliases(entries: readonly Entry[]): readonly Entry[] {
  let found = known.get(entries);
  if (found === undefined)
    known.set(entries, (found = entries.filter(({ resource }) => resource?.aliases !== undefined)));
  return found;
}

/** Forgets the aliases of a subscription that ends. */
export function forgetAlias(state: DeltaState, topic: Topic): void {
  if (state.aliased === undefined) return;
  for (const [key, topics] of state.aliased)
    if (topics.delete(topic) && topics.size === 0) state.aliased.delete(key);
}

/** Passes the aliases of a subscription to another topic that serves it. */
export function passAliases({ aliased }: DeltaState, from: Topic, to: Topic): void {
  for (const topics of aliased?.values() ?? []) if (topics.delete(from)) topics.add(to);
}

/**
 * Returns the keys of the subscriptions of a resource by other names than this one, which has no
 * subscription: by its aliases, or by its own name (S-ALIAS-2).
 */
export function keysBehind(state: DeltaState, name: string): readonly string[] {
  if (isCollection(name)) return [];
  const [entry] = state.context.source.topic(state.typeUrl, { name }).members();
  const aliases = entry?.resource?.aliases;
  if (entry === undefined || aliases === undefined) return [];
  return [entry.name, ...aliases].map(nameKey).filter((key) => state.topics.has(key));
}

function note(state: DeltaState, name: string, alias: string): void {
  const topic = state.topics.get(nameKey(alias));
  if (topic === undefined) return;
  const aliased = (state.aliased ??= new Map<string, Set<Topic>>());
  const key = nameKey(name);
  const topics = aliased.get(key);
  if (topics === undefined) aliased.set(key, new Set([topic]));
  else topics.add(topic);
}
