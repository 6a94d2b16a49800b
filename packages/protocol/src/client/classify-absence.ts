import type { Removal } from "@xdstp/core";
import { isCached, standInOf } from "./cached.ts";
import {
  addRemoval,
  addWhole,
  type Classification,
  type ClassifySource,
  remove,
  variantOf,
} from "./classification.ts";
import { lateError } from "./errors.ts";
import { receivedKey, type ReceivedResponse } from "./received.ts";
import type { Absence, AbsenceClassifier } from "./variant.ts";
import type { Wanted, WantedCollection, WantedName } from "./wanted.ts";
import type { WantedReader } from "./wanted-index.ts";

/**
 * Creates the part of a variant that concludes from what its full states leave out.
 * @param absenceIn - Returns what a response without a fault leaves out. undefined: nothing can be
 * concluded from it. Called once for each response; pure
 */
export function createAbsenceClassifier<Memory>(
  absenceIn: (
    response: ReceivedResponse,
    wanted: WantedReader,
    memory: Memory,
  ) => Absence | undefined,
): AbsenceClassifier<Memory> {
  return (source, draft, response, memory) => {
    const absence = absenceIn(response, source.wants, memory);
    if (absence !== undefined) classifyAbsence(source, draft, absence, response);
  };
}

/**
 * Concludes from what a response leaves out. A name that has an error in the response is not left
 * out (C-ERR-4).
 */
export function classifyAbsence(
  source: ClassifySource,
  draft: Classification,
  { complete, late, removed, missing, leftOut }: Absence,
  response: ReceivedResponse,
): void {
  const isMentioned = ({ key }: Wanted): boolean => draft.reasons.has(key);
  for (const wanted of leftOut) draft.verdicts.push({ kind: "left-out", wanted });
  for (const collection of late) {
    const unseen = isMentioned(collection)
      ? []
      : [
          ...cachedAndAbsent(source, draft, collection, response),
          ...rejectedAndAbsent(source, collection, response),
        ];
    draft.verdicts.push({ kind: "unseen", collection, unseen });
  }
  for (const collection of complete)
    if (!isMentioned(collection)) classifyWhole(source, draft, collection, response);
  for (const wanted of removed) if (!isMentioned(wanted)) classifyAbsent(source, draft, wanted);
  for (const wanted of missing)
    if (!isMentioned(wanted)) remove(source, draft, wanted.interest, [wanted]);
}

function classifyAbsent(source: ClassifySource, draft: Classification, wanted: WantedName): void {
  const { context, typeUrl, wants } = source;
  const { interest, key, state } = wanted;
  const { request, known } = state;
  const isGone = known.kind === "missing" || known.kind === "late";
  // This server has already said that the name does not exist, and a cached copy is from another
  // server.
  if (isGone ? standInOf(source, wanted) !== undefined : isCached(source, interest))
    remove(source, draft, interest, wants.covering(key));
  // The absence of the name was only concluded from a time limit, and the server confirms it
  // now. A relay needs this, since it does not believe a time limit while it serves the name from
  // its snapshot (B-RELAY-10).
  else if (known.kind === "late" && known.error === undefined && request.kind !== "waiting") {
    const error = lateError(context, typeUrl, interest, "NOT_FOUND", true);
    remove(source, draft, { name: interest.name, error }, [wanted]);
  }
}

/** Classifies a response that has all there is of a collection. */
function classifyWhole(
  source: ClassifySource,
  draft: Classification,
  collection: WantedCollection,
  response: ReceivedResponse,
): void {
  const isExact = draft.isExact;
  if (!isExact)
    for (const removal of cachedAndAbsent(source, draft, collection, response))
      addRemoval(draft, removal, [collection]);
  addWhole(draft, collection, isExact);
}

/** Returns removals for the cached members of a collection that a full state does not have. */
function cachedAndAbsent(
  { typeUrl, sink }: ClassifySource,
  { reasons }: Classification,
  { interest }: Wanted,
  { resources }: ReceivedResponse,
): readonly Removal[] {
  const present = new Set([...resources.map(receivedKey), ...reasons.keys()]);
  return Array.from(sink.held(typeUrl, interest))
    .filter((held) => !present.has(receivedKey(held)))
    .map((held) => ({ typeUrl, name: held.name, ...variantOf(held) }));
}

/**
 * Returns removals for the members of a collection that were rejected, are not cached, and that a
 * full state does not have.
 */
function rejectedAndAbsent(
  source: ClassifySource,
  { state: { rejections } }: Wanted,
  { resources }: ReceivedResponse,
): readonly Removal[] {
  if (rejections.size === 0) return [];
  const present = new Set(resources.map(({ key }) => key));
  return [...rejections]
    .filter(([key, { name }]) => !present.has(key) && !isCached(source, { name }))
    .map(([, { name }]) => ({ typeUrl: source.typeUrl, name }));
}
