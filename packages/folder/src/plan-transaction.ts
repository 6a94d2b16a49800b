import type { Put, Removal, ResourceSink } from "@xdstp/core";
import { type FolderEntry, keyOf, type NodeSinks, variantOf } from "./folder-entry.ts";

/** The changes that make the cache equal to the folder. */
export interface Plan {
  readonly put: readonly Put[];
  readonly remove: readonly Removal[];
  /** The number of resources in the cache before. */
  readonly held: number;
}

/**
 * Compares the folder with the resources of a sink. `types` has to include every type of which the sink may have resources.
 * An entry without `put` is already in the cache.
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

/** The changes that make the shared content and that of each node key equal to the folder. */
export interface FolderPlan {
  /** The changes for each sink. Those for node keys come first, so that their clients do not see shared content in between. */
  readonly parts: readonly PlanPart[];
  readonly put: number;
  readonly removed: number;
  readonly held: number;
}

/** The part of a plan for one sink. */
export interface PlanPart extends Plan {
  readonly sink: ResourceSink;
}

/** Counts the served entries of a folder with problems, and those of them whose version is older than that in the folder. Call it after a commit: a rejected resource still has its `put` then. */
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

/** Returns the changes for the shared sink and for the sink of each node key. */
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
