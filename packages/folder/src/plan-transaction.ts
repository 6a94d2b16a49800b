import type { Put, Removal, ResourceSink } from "@xdstp/core";
import type { FolderEntry } from "./folder-reader.ts";
import { keyOf, variantOf } from "./variant-of.ts";

/** What it takes to make the cache equal to the folder. */
export interface Plan {
  readonly put: readonly Put[];
  readonly remove: readonly Removal[];
  /** Resources in the cache before. */
  readonly held: number;
}

/**
 * Compares the folder with what the cache holds of some types, which must include every type of which something may be held.
 * Entries whose resource was let go are in the cache as they are.
 */
export function planTransaction(entries: readonly FolderEntry[], types: Iterable<string>, sink: Pick<ResourceSink, "held">): Plan {
  const present = new Set(entries.map(keyOf));
  const remove: Removal[] = [];
  let held = 0;
  for (const typeUrl of types) {
    for (const { name, constraints } of sink.held(typeUrl)) {
      held++;
      if (!present.has(keyOf({ typeUrl, name, variant: variantOf(constraints) }))) remove.push({ typeUrl, name, ...(constraints && { constraints }) });
    }
  }
  return { put: entries.flatMap(({ put }) => put ?? []), remove, held };
}
