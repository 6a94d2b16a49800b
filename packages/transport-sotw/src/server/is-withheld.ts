import type { SotwState } from "./sotw-state.ts";
import { isNameOfNothing } from "./stay.ts";

/**
 * A client that comes back says by its names what it holds. If some of it is gone, a full state would take it away at once:
 * there is none until those who refer to it have let go (S-ORD-3).
 */
export function isWithheld({ returning, subscriptions, unsettled, type }: SotwState): boolean {
  return returning && type?.fullStateInSotw === true && unsettled.size === 0 && subscriptions.values().some(({ topic }) => isNameOfNothing(topic));
}
