import type { Entry } from "@xdstp/core";
import { entryKey } from "@xdstp/protocol/server";
import type { DeltaState } from "./delta-state.ts";
import { keyOf, topicsOf } from "./lookup.ts";

/** One entry per name, or per variant of it (S-DUP-1, S-DYN-2): the newest; of equal ones that in the spelling of the subscription (N-42). */
export function mergeEntries(
  state: Pick<DeltaState, "topics"> & Partial<Pick<DeltaState, "located">>,
  parts: readonly (readonly Entry[])[],
): readonly Entry[] {
  const merged = new Map<string, Entry>();
  for (const entry of parts.flat()) {
    const key = keyOf(entry.name);
    const id = entryKey(entry, key);
    const held = merged.get(id);
    if (held === undefined || isBetter(state, key, entry, held)) merged.set(id, entry);
  }
  return [...merged.values()];
}

function isBetter(
  state: Pick<DeltaState, "topics"> & Partial<Pick<DeltaState, "located">>,
  key: string,
  entry: Entry,
  held: Entry,
): boolean {
  if (entry.revision !== held.revision) return entry.revision > held.revision;
  return topicsOf(state, key).some(({ interest }) => interest.name === entry.name);
}
