import { interestKey, type Entry, type Interest } from "@xdstp/core";
import { globOf, nameKey } from "@xdstp/uri";
import type { SotwState, Subscription } from "./sotw-state.ts";

/** The key of a subscription: names are equal by N-40, whatever their spelling; `*` is its own. */
export function keyOf(name: string): string {
  return nameKey(name);
}

/** The key of a subscription with its dynamic parameters: with others it is another subscription, as a relay has them for its clients (TP2). */
export function idOf(interest: Interest): string {
  return interest.parameters === undefined
    ? keyOf(interest.name)
    : interestKey(interest, keyOf(interest.name));
}

/** The subscriptions of a name, a glob or the wildcard, without and with dynamic parameters. */
export function subscriptionsOf(
  {
    subscriptions,
    located,
  }: Pick<SotwState, "subscriptions"> & Partial<Pick<SotwState, "located">>,
  key: string,
): readonly Subscription[] {
  const plain = subscriptions.get(key);
  const others = located?.get(key) ?? NONE;
  return plain === undefined ? others : [plain, ...others];
}

const NONE: readonly Subscription[] = [];

/** What is now of a name, for each subscription that covers it: these may be shown different variants. */
export function lookUpAll(state: SotwState, name: string): readonly Entry[] {
  const covers = state.located === undefined ? [coverOf(state, name)] : coversOf(state, name);
  return [...new Set(covers.flatMap((cover) => cover?.topic.get(name) ?? []))];
}

function coversOf(state: SotwState, name: string): readonly Subscription[] {
  const glob = globOf(name);
  return [
    ...subscriptionsOf(state, keyOf(name)),
    ...(glob === undefined ? [] : subscriptionsOf(state, glob)),
    ...subscriptionsOf(state, "*"),
  ];
}

/** The subscription that covers a name: its own, a glob's, the wildcard's. With dynamic parameters one that is shown a variant of it, if there is one. */
export function coverOf(state: SotwState, name: string): Subscription | undefined {
  if (state.located !== undefined) {
    const covers = coversOf(state, name);
    return covers.find(({ topic }) => topic.get(name) !== undefined) ?? covers[0];
  }
  const glob = globOf(name);
  const { subscriptions } = state;
  return (
    subscriptions.get(keyOf(name)) ??
    (glob === undefined ? undefined : subscriptions.get(glob)) ??
    subscriptions.get("*")
  );
}
