import { isSameError, type XdsError } from "@xdstp/core";

import { referenceKey, type Gap, type Graph } from "./graph.ts";
import type { KeyedReference } from "./places.ts";

/**
 * The graph that is in force, and the names that a newer graph waits for. Only `compose` creates
 * one:
 *
 * ```text
 * requested --an error of a name that it waits for--> failed
 * requested, failed --all names, except those that it may lack--> complete
 * complete --a newer graph has gaps or a fault--> outdated --the gaps are filled--> complete
 * complete, outdated --the root was removed--> requested, failed
 * ```
 */
export type Composition =
  /** The graph is requested and has not arrived; no error explains why. */
  | (Waiting & {
      readonly kind: "requested";
      readonly graph?: never;
      readonly error?: never;
      readonly restoredAt?: never;
    })
  /**
   * There is no graph: none has arrived, or its root was removed. `error`: the error nearest to the
   * root.
   */
  | (Waiting & {
      readonly kind: "failed";
      readonly graph?: never;
      readonly error: XdsError;
      readonly restoredAt?: never;
    })
  /** The newest graph is in force. `error`: the reason why it may be out of date. */
  | (Waiting & InForce & { readonly kind: "complete" })
  /** The previous graph is still in force. `error`: the reason. */
  | (Waiting & InForce & { readonly kind: "outdated" });

interface InForce {
  readonly graph: Graph;
  readonly error?: XdsError;
  /**
   * When a server sent the newest of the resources that are from the snapshot of the client (ms
   * since the epoch). Absent: none is.
   */
  readonly restoredAt?: number;
}

interface Waiting {
  /** The names that `graph` lacks because they did not arrive in time (C-WARM-3). */
  readonly missing: readonly Gap[];
  /** The names that a newer graph waits for. */
  readonly pending: readonly Gap[];
}

/** The state before anything is known. */
export const nothing: Composition = { kind: "requested", missing: [], pending: [] };

/**
 * Returns true if a reader should be notified of `now` after `told`: another graph, another error,
 * or a wait that ended or failed. A name that is merely awaited is not reported.
 */
export function isNews(told: Composition, now: Composition): boolean {
  if (now.kind === "requested") return false;
  if (told.graph !== now.graph || !isSameError(told.error, now.error)) return true;
  if (now.kind === "complete" && told.kind !== "complete") return true;
  if (now.restoredAt !== told.restoredAt) return true;
  const [before, after] = [failedOf(told), failedOf(now)];
  return before.length !== after.length || after.some((gap, n) => !isSameGap(gap, before[n]));
}

function failedOf({ pending }: Composition): readonly Gap[] {
  return pending.filter(({ error }) => error !== undefined);
}

function isSameGap({ typeUrl, name, error }: Gap, other: Gap | undefined): boolean {
  return other?.name === name && other.typeUrl === typeUrl && isSameError(error, other.error);
}

/**
 * Puts a graph in force if it is complete (C-ORD-7), else keeps the previous one. Without its root
 * no graph stays in force (C-GRPC-17).
 * @param mayLack - Returns true for a name that the first graph may lack; later graphs may lack the
 * same names only
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
    return {
      kind: "complete",
      graph,
      missing: gaps,
      pending: [],
      ...errorOf(now, []),
      ...restoredIn(now),
    };
  }
  const hasGone = now.gaps.get(rootKey)?.answered === true;
  if (hasGone || before.graph === undefined) {
    const { error } = errorOf(now, gaps);
    return error === undefined
      ? { kind: "requested", missing: [], pending: gaps }
      : { kind: "failed", missing: [], pending: gaps, error };
  }
  return {
    kind: "outdated",
    graph: before.graph,
    missing: before.missing,
    pending: blocking,
    ...errorOf(now, blocking),
    ...(before.restoredAt !== undefined && { restoredAt: before.restoredAt }),
  };
}

function restoredIn({ nodes }: Graph): { readonly restoredAt?: number } {
  let newest: number | undefined;
  for (const { restoredAt } of nodes.values())
    if (restoredAt !== undefined) newest = Math.max(newest ?? restoredAt, restoredAt);
  return newest === undefined ? {} : { restoredAt: newest };
}

function isSame(one: Graph, other: Graph): boolean {
  if (one.nodes.size !== other.nodes.size || one.gaps.size !== other.gaps.size) return false;
  for (const key of one.gaps.keys()) if (!other.gaps.has(key)) return false;
  for (const [key, { resource }] of one.nodes)
    if (other.nodes.get(key)?.resource !== resource) return false;
  return true;
}

/** Errors of missing names come before ambient errors of cached resources. */
function errorOf({ fault, nodes }: Graph, gaps: readonly Gap[]): { readonly error?: XdsError } {
  const error = fault ?? gaps.find((gap) => gap.error !== undefined)?.error ?? ambient(nodes);
  return error === undefined ? {} : { error };
}

function ambient(nodes: Graph["nodes"]): XdsError | undefined {
  for (const { error } of nodes.values()) if (error !== undefined) return error;
  return undefined;
}
