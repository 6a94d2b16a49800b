import type { Entry } from "../resource.ts";

/** The entries of one array, told apart; each part in the order of the array. */
export interface Partition {
  readonly additions: readonly Entry[];
  readonly removals: readonly Entry[];
}

const parts = new WeakMap<readonly Entry[], Partition>();

/** Additions and removals of an array. The same arrays for the same array, so that streams in one state go on sharing frames. */
export function partition(entries: readonly Entry[]): Partition {
  let known = parts.get(entries);
  if (known === undefined) {
    const removals = entries.filter(({ resource }) => resource === undefined);
    known = removals.length === 0 ? { additions: entries, removals } : { additions: entries.filter(({ resource }) => resource !== undefined), removals };
    parts.set(entries, known);
  }
  return known;
}
