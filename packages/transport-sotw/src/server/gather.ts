import { gatherChanges, gatherEmpty } from "./gather-changes.ts";
import { gatherFullState } from "./gather-full-state.ts";
import type { Gathered } from "./gathered.ts";
import type { SotwState } from "./sotw-state.ts";

/** Takes everything that is pending out of the state, with removals up to a revision. */
export function gather(state: SotwState, removeUpTo: number): Gathered {
  return state.type?.fullStateInSotw === true
    ? gatherFullState(state, removeUpTo)
    : (gatherEmpty(state) ?? gatherChanges(state));
}
