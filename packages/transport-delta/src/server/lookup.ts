import type { Entry, Topic } from "@xdstp/core";
import { globOf, isGlob, nameKey } from "@xdstp/uri";
import type { DeltaState } from "./delta-state.ts";

/** The key of a subscription: names are equal by N-40, whatever their spelling; `*` is its own. */
export function keyOf(name: string): string {
  return nameKey(name);
}

/** Whether an interest is a set of names: a glob or the wildcard. */
export function isCollection(name: string): boolean {
  return name === "*" || isGlob(name);
}

/** Whether a subscription of this type covers the name. What `*` covers is the source's business: for a name that is gone it counts as covered. */
export function isCovered(state: DeltaState, name: string): boolean {
  const key = keyOf(name);
  return state.topics.has("*") || state.topics.has(key) || state.aliased?.has(key) === true || globTopic(state, name) !== undefined;
}

/** The newest state of a name as this client is to hear it; undefined while that is not known. */
export function lookUp(state: DeltaState, name: string): Entry | undefined {
  const key = keyOf(name);
  const exact = state.topics.get(key);
  if (exact !== undefined && !isCollection(name)) return state.unsettled.has(exact) ? undefined : exact.members()[0];
  return globTopic(state, name)?.get(name) ?? state.topics.get("*")?.get(name) ?? byAlias(state, key, name) ?? removal(state, name);
}

/** Says that a name does not exist. */
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
