import type { Put, Removal, ResourceSink } from "@xdstp/core";
import { type FolderEntry, keyOf, type NodeSinks, variantOf } from "./folder-entry.ts";

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
export function planTransaction(
  entries: readonly FolderEntry[],
  types: Iterable<string>,
  sink: Pick<ResourceSink, "held">,
): Plan {
  const present = new Set(entries.map(keyOf));
  const remove: Removal[] = [];
  let held = 0;
  for (const typeUrl of types) {
    for (const { name, constraints } of sink.held(typeUrl)) {
      held++;
      if (!present.has(keyOf({ typeUrl, name, variant: variantOf(constraints) })))
        remove.push({ typeUrl, name, ...(constraints && { constraints }) });
    }
  }
  const put = entries.flatMap(({ put, isFaulty }) => (isFaulty ? [] : (put ?? [])));
  return { put, remove, held };
}

/** What it takes to make the shared content and that of each key equal to the folder. */
export interface FolderPlan {
  /** Those for single keys come first, so that no client sees the shared content in between. */
  readonly parts: readonly PlanPart[];
  readonly put: number;
  readonly removed: number;
  readonly held: number;
}

/** The part of a plan for one sink. */
export interface PlanPart extends Plan {
  readonly sink: ResourceSink;
}

/** Of the entries of a folder with problems, how many are served, and how many of these in an older version than the folder has. To be called after a commit: what was rejected still has its `put`. */
export function countServed(
  entries: readonly FolderEntry[],
  types: ReadonlySet<string>,
  sink: Pick<ResourceSink, "held">,
  nodes: NodeSinks | undefined,
): { readonly resources: number; readonly older: number } {
  const served = [...Map.groupBy(entries, ({ node }) => node)].flatMap(([node, ofNode]) => {
    const own = node === undefined ? sink : nodes?.of(node);
    const keys = new Set<string>();
    for (const typeUrl of types) {
      for (const { name, constraints } of own?.held(typeUrl) ?? [])
        keys.add(keyOf({ typeUrl, name, variant: variantOf(constraints) }));
    }
    return ofNode.filter((entry) => keys.has(keyOf(entry)));
  });
  const older = served.filter(
    ({ isFaulty, isOlder, put }) => isFaulty === true || isOlder === true || put !== undefined,
  );
  return { resources: served.length, older: older.length };
}

/** Plans for the sink of all clients, and for those of single keys. */
export function planFolder(
  entries: readonly FolderEntry[],
  types: ReadonlySet<string>,
  sink: ResourceSink,
  nodes: NodeSinks | undefined,
): FolderPlan {
  const byNode = Map.groupBy(entries, ({ node }) => node);
  const keys = new Set([...byNode.keys(), ...(nodes?.keys() ?? [])]);
  keys.delete(undefined);
  const parts = [
    ...[...keys].flatMap((key) => {
      const own = key === undefined ? undefined : nodes?.of(key);
      return own === undefined
        ? []
        : [{ ...planTransaction(byNode.get(key) ?? [], types, own), sink: own }];
    }),
    { ...planTransaction(byNode.get(undefined) ?? [], types, sink), sink },
  ];
  const sum = (count: (part: Plan) => number): number =>
    parts.reduce((total, part) => total + count(part), 0);
  return {
    parts,
    put: sum(({ put }) => put.length),
    removed: sum(({ remove }) => remove.length),
    held: sum(({ held }) => held),
  };
}
