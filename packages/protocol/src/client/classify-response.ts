import { nameKey } from "@xdstp/uri";

import {
  type Fault,
  keysOfConstraints,
  matchesConstraints,
  type Put,
  readConstraints,
  type Refresh,
  type Removal,
  type Resource,
  XdsError,
} from "@xdstp/core";
import { isDataError } from "../is-data-error.ts";
import { type CachedReader, isCached, isVariantCached, standInOf } from "./cached.ts";
import type { ClientContext } from "./client-context.ts";
import { lateError } from "./errors.ts";
import type { MemberLimit } from "./member-limit.ts";
import {
  type ReceivedName,
  receivedKey,
  type ReceivedResource,
  type ReceivedResponse,
} from "./received.ts";
import { resourceFault } from "./faults.ts";
import type { Absence } from "./variant.ts";
import { hasNotBegun, type Wanted, type WantedCollection, type WantedName } from "./wanted.ts";
import type { WantedIndex } from "./wanted-index.ts";

/**
 * One statement of a response about a name or an interest. The verdicts of a response name each
 * resource once.
 */
export type ResponseVerdict =
  | AcceptedResource
  /**
   * The response answers these interests, apart from its accepted resources. `member`: the key of
   * the member that it names; undefined: it names none.
   */
  | {
      readonly kind: "answered";
      readonly covering: readonly Wanted[];
      readonly member: string | undefined;
    }
  /** A heartbeat of a cached resource (C-TTL-3). */
  | { readonly kind: "refreshed"; readonly refresh: Refresh }
  /** A heartbeat of a resource that is not cached: these interests have to be requested again. */
  | { readonly kind: "lost"; readonly covering: readonly Wanted[] }
  /** The resource is invalid, and the sink is not asked. */
  | { readonly kind: "rejected"; readonly name: string; readonly error: XdsError }
  /** A further invalid resource, which is only counted. */
  | { readonly kind: "rejected-unnamed" }
  /** The name no longer exists. */
  | {
      readonly kind: "removed";
      readonly removal: Removal;
      readonly key: string;
      readonly covering: readonly Wanted[];
    }
  /** An error of an interest. Its cached resources stay. */
  | { readonly kind: "failed"; readonly wanted: Wanted; readonly error: XdsError }
  /**
   * The response has all there is of a collection. `exact`: all of it was accepted, so the sink
   * removes the other members. `error`: why the collection is empty.
   */
  | {
      readonly kind: "whole";
      readonly collection: WantedCollection;
      readonly exact: boolean;
      readonly error: XdsError | undefined;
    }
  /** A full state does not have this name, which is still awaited (C-FULL-3). */
  | { readonly kind: "left-out"; readonly wanted: WantedName }
  /**
   * A full state does not have these members of a collection, which are cached or were rejected.
   */
  | {
      readonly kind: "unseen";
      readonly collection: WantedCollection;
      readonly unseen: readonly Removal[];
    }
  /** The name is not subscribed (C-SUB-8). */
  | { readonly kind: "ignored" };

/** A resource to put into the sink. */
export interface AcceptedResource {
  readonly kind: "accepted";
  readonly put: Put;
  readonly key: string;
  /** The interests that it answers. */
  readonly covering: readonly Wanted[];
}

/**
 * The state that a response is compared with. Classifying changes nothing of it, except for the
 * counts of `members`.
 */
export interface ClassifySource extends CachedReader {
  readonly context: ClientContext;
  readonly wants: WantedIndex;
  readonly members: MemberLimit;
}

/** A classification in progress. */
interface Draft {
  readonly verdicts: ResponseVerdict[];
  /** The errors of the response, by the key of the name. They explain removals and absence. */
  readonly reasons: ReadonlyMap<string, XdsError>;
  /** Aliases that the response removes. */
  readonly ended: ReadonlySet<Wanted>;
  readonly isCounted: boolean;
  rejected: number;
  /**
   * True while no resource of the response is rejected, refreshed or lost, so that a collection may
   * be replaced by the accepted resources.
   */
  isExact: boolean;
  /**
   * For each collection that was looked up: true if nothing of it has come on this stream and it
   * has no cached members.
   */
  readonly unknown: Map<Wanted, boolean>;
  /** Keys of the names that are accepted or removed. undefined: nothing is removed yet. */
  named: Set<string> | undefined;
}

const NO_ALIASES: readonly string[] = [];
const NO_WANTED: ReadonlySet<Wanted> = new Set();

/**
 * Turns a response into verdicts. Names that are not subscribed are ignored (C-SUB-8), and only the
 * others are checked.
 */
export function classifyResponse(
  source: ClassifySource,
  response: ReceivedResponse,
  absence: Absence | undefined,
): readonly ResponseVerdict[] {
  const { resources, removed, errors } = response;
  const reasons = reasonsIn(errors);
  const draft: Draft = {
    verdicts: [],
    reasons,
    ended: source.wants.hasAliases ? aliasesIn(source.wants, removed) : NO_WANTED,
    isCounted: source.members.mayExceed(resources.length),
    rejected: 0,
    isExact: reasons.size === 0,
    unknown: new Map(),
    named: undefined,
  };
  for (const resource of resources) classifyResource(source, draft, resource);
  for (const name of removed) classifyRemoved(source, draft, name);
  for (const error of errors) classifyError(source, draft, error);
  // An empty response answers a wildcard that has no members, or no updates (S-WILD-7, S-RECON-6).
  if (resources.length + removed.length + errors.length === 0)
    note(draft, source.wants.ofName("*"), undefined);
  // A resource without a readable name may be any resource, so nothing can be concluded from
  // absence.
  if (absence !== undefined && !resources.some(({ name }) => name === ""))
    classifyAbsence(source, draft, absence, response);
  return draft.verdicts;
}

function reasonsIn(errors: readonly ReceivedName[]): ReadonlyMap<string, XdsError> {
  return new Map(
    errors.flatMap((received) =>
      received.error === undefined ? [] : [[receivedKey(received), received.error] as const],
    ),
  );
}

function aliasesIn(wants: WantedIndex, removed: readonly ReceivedName[]): ReadonlySet<Wanted> {
  return new Set(
    removed
      .flatMap(({ name }) => wants.ofName(nameKey(name)))
      .filter((wanted) => wanted.kind === "name" && wanted.realName !== undefined),
  );
}

function note({ verdicts }: Draft, covering: readonly Wanted[], member: string | undefined): void {
  if (covering.length > 0) verdicts.push({ kind: "answered", covering, member });
}

function classifyResource(source: ClassifySource, draft: Draft, resource: ReceivedResource): void {
  const { context, typeUrl } = source;
  const { name, key, ttlMs } = resource;
  const covering = coveringOf(source.wants, draft.ended, resource);
  if (covering.length === 0 && name !== "") {
    draft.verdicts.push({ kind: "ignored" });
    return;
  }
  const fault = faultOf(source, draft, resource, covering);
  if (fault === undefined && hasBody(resource)) {
    draft.named?.add(receivedKey(resource));
    const put = {
      typeUrl,
      resource: ttlMs === undefined ? resource : { ...resource, expireMs: ttlMs },
    };
    draft.verdicts.push({ kind: "accepted", put, key, covering });
    return;
  }
  if (fault === undefined) classifyWithoutBody(source, draft, resource, covering);
  else {
    note(draft, covering, key);
    reject(context, draft, typeUrl, name, fault, covering);
  }
}

/** Classifies a resource without a body: a heartbeat, or a name that does not exist (C-MISS-3). */
function classifyWithoutBody(
  source: ClassifySource,
  draft: Draft,
  resource: ReceivedResource,
  covering: readonly Wanted[],
): void {
  const { typeUrl } = source;
  const { name, key, version, ttlMs } = resource;
  if (isVariantCached(source, resource, version)) {
    note(draft, covering, key);
    draft.isExact = false;
    const expire = ttlMs === undefined ? {} : { expireMs: ttlMs };
    const refresh = { typeUrl, name, ...expire, ...variantOf(resource) };
    draft.verdicts.push({ kind: "refreshed", refresh });
  } else if (ttlMs !== undefined) {
    note(draft, covering, key);
    draft.isExact = false;
    draft.verdicts.push({ kind: "lost", covering });
  } else {
    note(draft, answeredByAbsence(source, draft, key, covering), undefined);
    remove(source, draft, resource, covering);
  }
}

function faultOf(
  source: ClassifySource,
  draft: Draft,
  resource: ReceivedResource,
  covering: readonly Wanted[],
): Fault | undefined {
  const fault = resourceFault(resource, source.typeUrl, source.context.limits);
  if (fault !== undefined || !draft.isCounted || !hasBody(resource)) return fault;
  return source.members.faultOf(covering, resource.name, (collection) =>
    newMembers(source, draft, collection),
  );
}

/**
 * Counts the members of a collection that this response adds: accepted already, and not cached yet.
 */
function newMembers(source: ClassifySource, { verdicts }: Draft, collection: Wanted): number {
  return verdicts.filter(
    (verdict) =>
      verdict.kind === "accepted" &&
      verdict.covering.includes(collection) &&
      !isCached(source, { name: verdict.put.resource.name }),
  ).length;
}

/**
 * Rejects a resource. A name that has a subscription of its own is always reported; of other
 * members only the first `rejectedMembers` are.
 */
function reject(
  { limits }: ClientContext,
  draft: Draft,
  typeUrl: string,
  name: string,
  { text, rule }: Fault,
  covering: readonly Wanted[],
): void {
  draft.isExact = false;
  if (draft.rejected >= limits.rejectedMembers && !covering.some(({ kind }) => kind === "name")) {
    draft.verdicts.push({ kind: "rejected-unnamed" });
    return;
  }
  draft.rejected++;
  const error = new XdsError("INVALID_ARGUMENT", text, { typeUrl, resource: name, rule });
  draft.verdicts.push({ kind: "rejected", name, error });
}

/**
 * Returns the interests that a resource answers. It does not answer an alias that the response
 * removes, unless the resource lists that alias (C-ALIAS-3). A variant answers the interests whose
 * parameters match it (C-DYN-7); an interest that lacks one of the keys is included, since the node
 * may have further parameters. Constraints that cannot be read are left to the sink, which rejects
 * the resource.
 */
function coveringOf(
  wants: WantedIndex,
  ended: ReadonlySet<Wanted>,
  { key, aliases = NO_ALIASES, constraints }: ReceivedResource,
): readonly Wanted[] {
  const all = wants.covering(key, aliases);
  const covering =
    ended.size === 0
      ? all
      : all.filter(
          (wanted) => !ended.has(wanted) || [key, ...aliases.map(nameKey)].includes(wanted.key),
        );
  if (constraints === undefined || covering.length === 0) return covering;
  const read = readConstraints(constraints);
  if (read.fault !== undefined) return covering;
  const keys = keysOfConstraints(read.constraints);
  return covering.filter(
    ({ interest: { parameters } }) =>
      parameters === undefined ||
      !keys.isSubsetOf(new Set(parameters.keys())) ||
      matchesConstraints(read.constraints, parameters),
  );
}

/** Classifies a removal: of a name, of a glob that has no members, or of the whole type (`*`). */
function classifyRemoved(source: ClassifySource, draft: Draft, removed: ReceivedName): void {
  const key = nameKey(removed.name);
  const covering = source.wants.covering(key);
  if (covering.length === 0) {
    draft.verdicts.push({ kind: "ignored" });
    return;
  }
  note(draft, answeredByAbsence(source, draft, key, covering), undefined);
  const own = covering.filter((wanted) => wanted.key === key);
  const emptied = own.filter((wanted) => wanted.kind !== "name");
  for (const collection of emptied) addWhole(draft, collection, true);
  if (emptied.length === 0 && !removeReal(source, draft, own))
    remove(source, draft, removed, covering);
}

/**
 * Returns the interests that the removal of a name answers. If the name has a subscription of its
 * own, the removal does not answer a collection that also covers it and of which nothing has come
 * or is cached: names are answered as soon as they are known, and a collection without members has
 * an answer of its own (C-WILD-12).
 */
function answeredByAbsence(
  source: ClassifySource,
  draft: Draft,
  key: string,
  covering: readonly Wanted[],
): readonly Wanted[] {
  const isOwn = (wanted: Wanted): boolean => wanted.kind === "name" || wanted.key === key;
  return covering.length > 1 && covering.some(isOwn)
    ? covering.filter((wanted) => isOwn(wanted) || !isUnknown(source, draft, wanted))
    : covering;
}

/** Returns true if nothing of a collection has come on this stream, and nothing of it is cached. */
function isUnknown(source: ClassifySource, { unknown }: Draft, collection: Wanted): boolean {
  if (!hasNotBegun(collection.state.request)) return false;
  let isOne = unknown.get(collection);
  if (isOne === undefined)
    unknown.set(collection, (isOne = !isCached(source, collection.interest)));
  return isOne;
}

/**
 * Handles the removal of aliases: also removes the resource that was cached for an alias, unless
 * another subscription covers it (C-ALIAS-3). Returns true if the names themselves need no removal.
 */
function removeReal(source: ClassifySource, draft: Draft, aliases: readonly Wanted[]): boolean {
  const { context, wants } = source;
  const { ended } = draft;
  let isKept = false;
  for (const alias of aliases) {
    const realName = alias.kind === "name" ? alias.realName : undefined;
    if (realName === undefined || wants.covering(realName).some((wanted) => !ended.has(wanted)))
      continue;
    remove(source, draft, { name: realName }, aliases);
    isKept = context.keepRemoved;
  }
  return isKept;
}

/**
 * Removes a name (C-REM-2); with `keepRemoved`, as in gRPC, the cached resource stays, with the
 * error next to it (C-GRPC-9).
 */
function remove(
  source: ClassifySource,
  draft: Draft,
  removed: ReceivedName,
  covering: readonly Wanted[],
): void {
  const { context, typeUrl } = source;
  const { name } = removed;
  const error = removed.error ?? draft.reasons.get(receivedKey(removed));
  if (
    context.keepRemoved &&
    covering.every(({ kind }) => kind === "name") &&
    isVariantCached(source, removed)
  ) {
    const kept =
      error ??
      new XdsError("NOT_FOUND", "the server has removed it; the cached resource is kept", {
        typeUrl,
        resource: name,
      });
    for (const wanted of covering) draft.verdicts.push({ kind: "failed", wanted, error: kept });
    return;
  }
  const removal = { typeUrl, name, ...variantOf(removed) };
  addRemoval(draft, error === undefined ? removal : { ...removal, error }, covering);
}

function addRemoval(draft: Draft, removal: Removal, covering: readonly Wanted[]): void {
  const named = (draft.named ??= new Set(
    draft.verdicts.flatMap((verdict) =>
      verdict.kind === "accepted" ? [receivedKey(verdict.put.resource)] : [],
    ),
  ));
  const id = receivedKey(removal);
  if (named.has(id)) return;
  named.add(id);
  draft.verdicts.push({ kind: "removed", removal, key: nameKey(removal.name), covering });
}

/**
 * Classifies the error of a name or a collection (S-ERR-5). An error of the data removes the
 * resource; a transient error is shown next to what is cached (C-ERR-4).
 */
function classifyError(
  source: ClassifySource,
  draft: Draft,
  { name, constraints, error }: ReceivedName,
): void {
  const key = nameKey(name);
  const own = source.wants.ofName(key);
  const covering = own.length > 0 ? own : source.wants.covering(key);
  if (covering.length === 0 || error === undefined) {
    draft.verdicts.push({ kind: "ignored" });
    return;
  }
  note(draft, covering, key);
  const collections = own.filter((wanted) => wanted.kind !== "name");
  if (isDataError(error)) {
    if (collections.length === 0) {
      remove(source, draft, { name, error, ...variantOf({ constraints }) }, covering);
      return;
    }
    for (const collection of collections) addWhole(draft, collection, true);
  }
  for (const wanted of covering) draft.verdicts.push({ kind: "failed", wanted, error });
}

/**
 * Concludes from what a response leaves out. A name that has an error in the response is not left
 * out (C-ERR-4).
 */
function classifyAbsence(
  source: ClassifySource,
  draft: Draft,
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

function classifyAbsent(source: ClassifySource, draft: Draft, wanted: WantedName): void {
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
  draft: Draft,
  collection: WantedCollection,
  response: ReceivedResponse,
): void {
  const isExact = draft.isExact;
  if (!isExact)
    for (const removal of cachedAndAbsent(source, draft, collection, response))
      addRemoval(draft, removal, [collection]);
  addWhole(draft, collection, isExact);
}

/**
 * Adds the verdict that a collection is complete. A transient error is left out: it does not make
 * the collection empty.
 */
function addWhole(
  { verdicts, reasons }: Draft,
  collection: WantedCollection,
  exact: boolean,
): void {
  const reason = reasons.get(collection.key);
  const error = reason !== undefined && isDataError(reason) ? reason : undefined;
  verdicts.push({ kind: "whole", collection, exact, error });
}

/** Returns removals for the cached members of a collection that a full state does not have. */
function cachedAndAbsent(
  { typeUrl, sink }: ClassifySource,
  { reasons }: Draft,
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

function hasBody(resource: ReceivedResource): resource is ReceivedResource & Resource {
  return resource.payload !== undefined;
}

function variantOf({ constraints }: { readonly constraints?: Uint8Array | undefined }): {
  readonly constraints?: Uint8Array;
} {
  return constraints === undefined ? {} : { constraints };
}
