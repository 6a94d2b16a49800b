import type { Entry } from "@xdstp/core";

/** The entries of one array, told apart; each part in the order of the array. The removal of a variant that another one replaces is not a removal of the name: it stays with that (S-DYN-5). */
export interface Partition {
  /** What is added or changed. */
  readonly additions: readonly Entry[];
  /** What is removed. */
  readonly removals: readonly Entry[];
}

const parts = new WeakMap<readonly Entry[], Partition>();

/** Additions and removals of an array. The same arrays for the same array, so that streams in one state go on sharing frames. */
export function partition(entries: readonly Entry[]): Partition {
  let known = parts.get(entries);
  if (known === undefined) {
    const isRemoved = removalIn(entries);
    const removals = entries.filter(isRemoved);
    known =
      removals.length === 0
        ? { additions: entries, removals }
        : { additions: entries.filter((entry) => !isRemoved(entry)), removals };
    parts.set(entries, known);
  }
  return known;
}

function removalIn(entries: readonly Entry[]): (entry: Entry) => boolean {
  if (
    !entries.some(
      ({ resource, constraints }) => (resource?.constraints ?? constraints) !== undefined,
    )
  )
    return ({ resource }) => resource === undefined;
  const variants = new Set(
    entries.flatMap(({ name, resource }) => (resource?.constraints === undefined ? [] : name)),
  );
  const present = new Set(
    entries.flatMap(({ name, resource }) => (resource === undefined ? [] : name)),
  );
  return ({ name, resource, constraints }) =>
    resource === undefined &&
    !variants.has(name) &&
    (constraints === undefined || !present.has(name));
}
