import type { Entry } from "../resource.ts";

const indices = new WeakMap<readonly Entry[], ReadonlyMap<string, Entry>>();

/** The entries of an array by name. Made once per array: streams share their arrays, so they share the index too. */
export function byName(entries: readonly Entry[]): ReadonlyMap<string, Entry> {
  let index = indices.get(entries);
  if (index === undefined) indices.set(entries, (index = new Map(entries.map((entry) => [entry.name, entry]))));
  return index;
}
