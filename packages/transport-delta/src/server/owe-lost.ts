import type { Entry } from "@xdstp/core";
import { entryKey } from "@xdstp/protocol/server";
import type { DeltaState } from "./delta-state.ts";
import { goneOf, isCovered, lookUp } from "./lookup.ts";

/**
 * A response of these entries is settled that has lost a subscription meanwhile: removals of what it carried and what is covered again have to be sent (S-DSUB-12).
 * One pass for each such response, however often subscriptions came and went.
 */
export function oweLost(state: DeltaState, entries: readonly Entry[]): void {
  const lost = entries.filter(
    (entry) =>
      entry.resource !== undefined &&
      isCovered(state, entry.name) &&
      (lookUp(state, entry.name)?.resource === undefined || isReplaced(state, entry)),
  );
  if (lost.length === 0) return;
  const updates = updatesOf(state);
  for (const { name } of lost) if (!updates.has(name)) state.owed.add(name); // else it goes in its order
}

/** Another variant of the name is there now. */
function isReplaced(state: DeltaState, entry: Entry): boolean {
  const key = entryKey(entry, "");
  return goneOf(state, entry.name).some((gone) => entryKey(gone, "") === key);
}

/** A topic without watchers for a while may not know what was removed meanwhile. */
function updatesOf({ dirty, sent }: DeltaState): ReadonlySet<string> {
  return new Set([...dirty].flatMap((topic) => topic.changes(sent) ?? []).map(({ name }) => name));
}
