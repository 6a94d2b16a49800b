import type { Entry } from "@xdstp/core";

type Entries = readonly Entry[];

const joined = new WeakMap<Entries, WeakMap<Entries, Entries>>();

/** What has changed first in one topic and then in another, each name once, as it is now; the same array for the same two. */
export function joinChanges(
  old: Entries | undefined,
  updates: Entries | undefined,
): Entries | undefined {
  if (old === undefined || updates === undefined) return undefined;
  const known = joined.get(old) ?? new WeakMap<Entries, Entries>();
  joined.set(old, known);
  const join = known.get(updates) ?? joinOf(old, updates);
  known.set(updates, join);
  return join;
}

function joinOf(old: Entries, updates: Entries): Entries {
  const renewed = new Set(updates.map(({ name }) => name));
  const rest = old.filter(({ name }) => !renewed.has(name));
  if (rest.length === 0) return updates;
  return updates.length === 0 && rest.length === old.length ? old : [...rest, ...updates];
}
