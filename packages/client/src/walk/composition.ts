import type { XdsError } from "@xdstp/core";

import { referenceKey, type Gap, type Graph } from "./graph.ts";
import type { KeyedReference } from "./place.ts";

/** What is in force, and what a newer state waits for. */
export interface Composition {
  /** The newest graph that was complete, but for `missing`. Absent: there was none yet, or its root was removed. */
  readonly graph?: Graph;
  /** What `graph` goes without, since it did not come in time (C-WARM-3). */
  readonly missing: readonly Gap[];
  /** What keeps a newer state from being in force. */
  readonly pending: readonly Gap[];
  /** Why `graph` may be old, or why there is none: of what is nearest to the root. */
  readonly error?: XdsError;
}

/** Nothing is known. */
export const nothing: Composition = { missing: [], pending: [] };

/**
 * Puts a graph in force if it is complete (C-ORD-7), else keeps the one before; without its root there is nothing to keep (C-GRPC-17).
 * @param mayLack - of a first graph, whether it may go without this name; what it went without, the next may lack too
 */
export function compose(
  before: Composition,
  root: KeyedReference,
  now: Graph,
  mayLack: (gap: Gap) => boolean,
): Composition {
  const lacked = new Set(before.missing.map(referenceKey));
  const may =
    before.graph === undefined ? mayLack : (gap: Gap): boolean => lacked.has(referenceKey(gap));
  const gaps = [...now.gaps.values()];
  const rootKey = root.key;
  const blocking = gaps.filter((gap) => !may(gap));
  if (now.fault === undefined && now.nodes.has(rootKey) && blocking.length === 0) {
    const graph = before.graph !== undefined && isSame(before.graph, now) ? before.graph : now;
    return { graph, missing: gaps, pending: [], ...errorOf(now, []) };
  }
  const hasGone = now.gaps.get(rootKey)?.answered === true;
  if (hasGone || before.graph === undefined)
    return { missing: [], pending: gaps, ...errorOf(now, gaps) };
  return {
    graph: before.graph,
    missing: before.missing,
    pending: blocking,
    ...errorOf(now, blocking),
  };
}

function isSame(one: Graph, other: Graph): boolean {
  if (one.nodes.size !== other.nodes.size || one.gaps.size !== other.gaps.size) return false;
  for (const key of one.gaps.keys()) if (!other.gaps.has(key)) return false;
  for (const [key, { resource }] of one.nodes)
    if (other.nodes.get(key)?.resource !== resource) return false;
  return true;
}

/** What is in the way comes before what is merely old. */
function errorOf({ fault, nodes }: Graph, gaps: readonly Gap[]): { readonly error?: XdsError } {
  const error = fault ?? gaps.find((gap) => gap.error !== undefined)?.error ?? ambient(nodes);
  return error === undefined ? {} : { error };
}

function ambient(nodes: Graph["nodes"]): XdsError | undefined {
  for (const { error } of nodes.values()) if (error !== undefined) return error;
  return undefined;
}
