import type { Entry } from "@xdstp/core";
import type { DeltaState } from "./delta-state.ts";
import { keyOf } from "./lookup.ts";

/** One entry per name (S-DUP-1): the newest; of equal ones that in the spelling that was asked for (N-42). */
export function mergeEntries(state: Pick<DeltaState, "topics">, parts: readonly (readonly Entry[])[]): readonly Entry[] {
  const merged = new Map<string, Entry>();
  for (const entry of parts.flat()) {
    const key = keyOf(entry.name);
    const held = merged.get(key);
    if (held === undefined || isBetter(state, key, entry, held)) merged.set(key, entry);
  }
  return [...merged.values()];
}

function isBetter(state: Pick<DeltaState, "topics">, key: string, entry: Entry, held: Entry): boolean {
  if (entry.revision !== held.revision) return entry.revision > held.revision;
  return state.topics.get(key)?.interest.name === entry.name;
}
