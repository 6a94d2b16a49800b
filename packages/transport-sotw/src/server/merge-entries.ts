import type { Entry } from "@xdstp/core";
import { keyOf } from "./lookup.ts";
import type { SotwState } from "./sotw-state.ts";

/** One entry per name (S-DUP-1): the newest; of equal ones that in the spelling that was asked for (N-42). */
export function mergeEntries(state: Pick<SotwState, "subscriptions">, parts: readonly (readonly Entry[])[]): readonly Entry[] {
  const merged = new Map<string, Entry>();
  for (const entry of parts.flat()) {
    const key = keyOf(entry.name);
    const held = merged.get(key);
    if (held === undefined || isBetter(state, key, entry, held)) merged.set(key, entry);
  }
  return [...merged.values()];
}

function isBetter(state: Pick<SotwState, "subscriptions">, key: string, entry: Entry, held: Entry): boolean {
  if (entry.revision !== held.revision) return entry.revision > held.revision;
  return state.subscriptions.get(key)?.topic.interest.name === entry.name;
}
