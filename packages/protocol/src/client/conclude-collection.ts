import { nameKey } from "@xdstp/uri";

import type { Removal, TypedInterest } from "@xdstp/core";
import { applyToCollection, commitAside, type ConcludeSource, confirm } from "./apply-event.ts";
import { isCached, isWantedCached } from "./cached.ts";
import { lateError } from "./errors.ts";
import type { Wanted, WantedCollection } from "./wanted.ts";

/**
 * Completes a collection with the members that have come. Without `whole`: none have come, and the
 * collection is unavailable for now.
 */
export function concludeOverdue(
  source: ConcludeSource,
  wanted: WantedCollection,
): { readonly removals: readonly Removal[]; readonly whole: TypedInterest | undefined } {
  const { context, typeUrl, wants } = source;
  const { interest, state } = wanted;
  const { request } = state;
  const hasBegun = request.kind === "partial";
  applyToCollection(source, wanted, { kind: "overdue" });
  confirm(source, wanted);
  const isSilent = context.timeoutIsTransient && !hasBegun && !isWantedCached(source, wanted);
  if (isSilent) {
    const error = lateError(context, typeUrl, interest, "UNAVAILABLE", false);
    applyToCollection(source, wanted, { kind: "failed", error });
  }
  // The server has read the request by now, so its last full state is complete (C-FULL-3). Names
  // that are also subscribed by name have a time limit of their own.
  const removed = ("unseen" in request ? request.unseen : []).filter(({ name }) =>
    wants.covering(nameKey(name)).every(({ kind }) => kind !== "name"),
  );
  const keys = removed.map(({ name }) => nameKey(name));
  if (keys.length > 0)
    applyToCollection(source, wanted, { kind: "removed", keys, at: context.clock.wallTime() });
  return {
    removals: removed.filter(({ name }) => isCached(source, { name })),
    whole: isSilent ? undefined : { typeUrl, interest, ...(!hasBegun && { timedOut: true }) },
  };
}

/**
 * Concludes that collections are complete, since no further member has come for some time
 * (C-GLOB-9).
 */
export function concludeIdle(source: ConcludeSource, repeats: Repeats): void {
  const { typeUrl, sink, wants } = source;
  const settled: TypedInterest[] = [];
  for (const wanted of wants) {
    const { request, known } = wanted.state;
    if (wanted.kind === "name" || request.kind !== "partial") continue;
    if (known.kind === "requested" && repeats(wanted, false)) continue;
    applyToCollection(source, wanted, { kind: "idle" });
    confirm(source, wanted);
    settled.push({ typeUrl, interest: wanted.interest });
  }
  if (settled.length > 0) commitAside(sink, { settled });
}

/**
 * Returns true if an interest that seems late was requested again, so that nothing is concluded
 * yet. `isOfOther`: its cached resource is from another server.
 */
export type Repeats = (wanted: Wanted, isOfOther: boolean) => boolean;
