import { isWaiting } from "./gather-full-state.ts";
import type { SotwState } from "./sotw-state.ts";
import { isNameOfNothing } from "./stay.ts";

/**
 * A client that comes back lists what it has by its names. If some of it was removed, a full state would delete it at once:
 * there is none until those who refer to it have let go (S-ORD-3).
 */
export function isWithheld(state: SotwState): boolean {
  const { returning, topics, type } = state;
  return (
    returning &&
    type?.fullStateInSotw === true &&
    !isWaiting(state) &&
    topics.values().some(isNameOfNothing)
  );
}
