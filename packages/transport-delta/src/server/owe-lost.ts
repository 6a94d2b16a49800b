import type { Entry } from "@xdstp/core";
import type { DeltaState } from "./delta-state.ts";
import { coversOf, isCovered, lookUp } from "./lookup.ts";

/**
 * A response of these entries is settled that has lost a subscription meanwhile: what it carried, is gone by now and is covered anew has to be said (S-DSUB-12).
 * One pass for each such response, however often subscriptions came and went.
 */
export function oweLost(state: DeltaState, entries: readonly Entry[]): void {
  for (const { name, resource } of entries) {
    if (resource === undefined || !isCovered(state, name) || lookUp(state, name)?.resource !== undefined) continue;
    if (!coversOf(state, name).some((topic) => state.dirty.has(topic))) state.owed.add(name); // else it is news, which goes in its order
  }
}
