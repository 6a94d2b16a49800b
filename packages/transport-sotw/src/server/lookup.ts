import { globOf, nameKey } from "@xdstp/uri";
import type { SotwState, Subscription } from "./sotw-state.ts";

/** The key of a subscription: names are equal by N-40, whatever their spelling; `*` is its own. */
export function keyOf(name: string): string {
  return nameKey(name);
}

/** The subscription that covers a name: its own, a glob's, the wildcard's. */
export function coverOf(state: SotwState, name: string): Subscription | undefined {
  const glob = globOf(name);
  const { subscriptions } = state;
  return subscriptions.get(keyOf(name)) ?? (glob === undefined ? undefined : subscriptions.get(glob)) ?? subscriptions.get("*");
}
