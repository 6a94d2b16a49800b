import { isSameError, type XdsError } from "@xdstp/core";

/**
 * How much a reader knows of a collection as a whole. `error`: why it may be old, or why nothing can be had.
 *
 * ```text
 * requested --something of it is known--> partial --the last member has come--> complete --the server begins again--> partial
 * ```
 */
export type CollectionState =
  /** Nothing is known yet. */
  | { readonly kind: "requested" }
  /** Perhaps not all members are known. */
  | { readonly kind: "partial"; readonly error: XdsError | undefined }
  /** All members are known, as far as the protocol can say so (C-GLOB-9). */
  | { readonly kind: "complete"; readonly error: XdsError | undefined };

/** The state of a watch that has just begun. */
export const requestedCollection: CollectionState = { kind: "requested" };

/**
 * The state in which a reader finds a collection; the same object where nothing is different for it. Members that come one after the other do not change it.
 * @param isReport - The error was reported since, if only again
 */
export function nextCollectionState(
  before: CollectionState,
  settled: boolean,
  error: XdsError | undefined,
  isReport: boolean,
): CollectionState {
  if (before.kind === "requested" && !settled && error === undefined) return before;
  const kind = settled ? "complete" : "partial";
  const isSame = before.kind === kind && isSameError(before.error, error);
  return isSame && !(isReport && error !== undefined) ? before : { kind, error };
}
