import type { Entry } from "@xdstp/core";

type Entries = readonly Entry[];

/** Computes once per pair of arrays, for as long as both live: streams in the same state share the outcome. */
export function pairMemo(
  compute: (first: Entries, second: Entries) => Entries,
): (first: Entries, second: Entries) => Entries {
  const known = new WeakMap<Entries, WeakMap<Entries, Entries>>();
  return (first, second) => {
    let bySecond = known.get(first);
    if (bySecond === undefined) known.set(first, (bySecond = new WeakMap()));
    let outcome = bySecond.get(second);
    if (outcome === undefined) bySecond.set(second, (outcome = compute(first, second)));
    return outcome;
  };
}
