import type { Entry } from "@xdstp/core";
import { decodeLatin1 } from "@xdstp/core/wire";

const indices = new WeakMap<readonly Entry[], ReadonlyMap<string, Entry>>();

/**
 * Returns the entries of an array by name. If a name has both the removal of a variant and another
 * entry, the existing resource counts (S-DYN-5), else the newest entry. The index is made once per
 * array, so streams that share an array share it.
 */
export function byName(entries: readonly Entry[]): ReadonlyMap<string, Entry> {
  let index = indices.get(entries);
  if (index === undefined) indices.set(entries, (index = indexOf(entries)));
  return index;
}

function indexOf(entries: readonly Entry[]): ReadonlyMap<string, Entry> {
  const index = new Map<string, Entry>();
  for (const entry of entries)
    if (!isReplaced(entry, index.get(entry.name))) index.set(entry.name, entry);
  return index;
}

function isReplaced({ resource, revision }: Entry, by: Entry | undefined): boolean {
  return (
    resource === undefined &&
    by !== undefined &&
    (by.resource !== undefined || by.revision > revision)
  );
}

/**
 * Returns a map key for an entry under a key of its name: each variant of a name has an entry of
 * its own (S-DYN-2).
 */
export function entryKey({ resource, constraints }: Entry, key: string): string {
  const which = resource === undefined ? constraints : resource.constraints;
  return which === undefined ? key : `${key}\n${decodeLatin1(which)}`;
}

/**
 * The entries of one array, divided; each part keeps the order of the array. The removal of a
 * variant that another variant replaces stays with its replacement: it does not remove the name
 * (S-DYN-5).
 */
export interface Partition {
  /** Entries that are new or changed. */
  readonly additions: readonly Entry[];
  /** Entries that remove a name. */
  readonly removals: readonly Entry[];
}

const parts = new WeakMap<readonly Entry[], Partition>();

/**
 * Divides an array into additions and removals. The same array gives the same parts, so that
 * streams in the same state share frames.
 */
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

type Entries = readonly Entry[];

interface Join {
  readonly arrays: readonly Entries[];
  readonly entries: Entries;
}

/** The number of joins with the same first array that are kept. */
const JOINS = 8;
const joins = new WeakMap<Entries, readonly Join[]>();

/**
 * Joins arrays. The same arrays give the same joined array, so that streams in the same state share
 * its frames.
 */
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
