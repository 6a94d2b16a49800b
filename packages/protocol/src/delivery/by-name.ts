import type { Entry } from "@xdstp/core";

const indices = new WeakMap<readonly Entry[], ReadonlyMap<string, Entry>>();

/** The entries of an array by name; where a variant takes the place of another, or of the resource for everyone, the one that is there (S-DYN-5), else the newest. Made once per array: streams share their arrays, so they share the index too. */
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
