import type { Entry } from "@xdstp/core";

type Entries = readonly Entry[];

interface Join {
  readonly arrays: readonly Entries[];
  readonly entries: Entries;
}

/** The number of joins with the same first array that are remembered. */
const JOINS = 8;
const joins = new WeakMap<Entries, readonly Join[]>();

/** One array of several; the same one for the same several, so that streams in the same state share its frames. */
export function joinArrays(
  arrays: readonly Entries[],
  merge: (arrays: readonly Entries[]) => Entries,
): Entries {
  const [first = [], second] = arrays;
  if (second === undefined) return first;
  const all = joins.get(first) ?? [];
  const known = all.find(
    (join) =>
      join.arrays.length === arrays.length &&
      join.arrays.every((array, index) => array === arrays[index]),
  );
  if (known !== undefined) return known.entries;
  const entries = merge(arrays);
  joins.set(first, [...all, { arrays, entries }].slice(-JOINS));
  return entries;
}
