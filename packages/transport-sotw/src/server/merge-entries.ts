import type { Entry } from "@xdstp/core";
import { entryKey } from "@xdstp/protocol/server";
import { keyOf, subscriptionsOf } from "./lookup.ts";
import type { SotwState } from "./sotw-state.ts";

/** One entry per name, or per variant of it (S-DUP-1, S-DYN-2): the newest; of equal ones that in the spelling of the subscription (N-42). */
export function mergeEntries(
  state: Pick<SotwState, "subscriptions"> & Partial<Pick<SotwState, "located">>,
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
  state: Pick<SotwState, "subscriptions"> & Partial<Pick<SotwState, "located">>,
  key: string,
  entry: Entry,
  held: Entry,
): boolean {
  if (entry.revision !== held.revision) return entry.revision > held.revision;
  return subscriptionsOf(state, key).some(({ topic }) => topic.interest.name === entry.name);
}
