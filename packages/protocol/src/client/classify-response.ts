import { nameKey } from "@xdstp/uri";

import { type Fault, type Resource, XdsError } from "@xdstp/core";
import { isDataError } from "../is-data-error.ts";
import { isCached, isVariantCached } from "./cached.ts";
import {
  addWhole,
  type Classification,
  type ClassifySource,
  note,
  remove,
  type ResponseVerdict,
  variantOf,
} from "./classification.ts";
import type { ClientContext } from "./client-context.ts";
import {
  type ReceivedName,
  receivedKey,
  type ReceivedResource,
  type ReceivedResponse,
} from "./received.ts";
import { resourceFault } from "./faults.ts";
import { hasNotBegun, type Wanted } from "./wanted.ts";
import type { WantedIndex } from "./wanted-index.ts";

const NO_ALIASES: readonly string[] = [];
const NO_WANTED: ReadonlySet<Wanted> = new Set();

/**
 * Turns a response into verdicts. Names that are not subscribed are ignored (C-SUB-8), and only the
 * others are checked.
 * @param classifyAbsence - Adds the verdicts on what the response leaves out
 */
export function classifyResponse(
  source: ClassifySource,
  response: ReceivedResponse,
  classifyAbsence: (draft: Classification) => void,
): readonly ResponseVerdict[] {
  const { resources, removed, errors } = response;
  const reasons = reasonsIn(errors);
  const draft: Classification = {
    verdicts: [],
    reasons,
    ended: source.wants.hasAliases ? aliasesIn(source.wants, removed) : NO_WANTED,
    isCounted: source.members?.mayExceed(resources.length) ?? false,
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
  if (!resources.some(({ name }) => name === "")) classifyAbsence(draft);
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

function classifyResource(
  source: ClassifySource,
  draft: Classification,
  resource: ReceivedResource,
): void {
  const { context, typeUrl } = source;
  const { name, key, ttlMs } = resource;
  const covering = coveringOf(source, draft.ended, resource);
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
  draft: Classification,
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
  draft: Classification,
  resource: ReceivedResource,
  covering: readonly Wanted[],
): Fault | undefined {
  const fault = resourceFault(resource, source.typeUrl, source.context.limits);
  if (fault !== undefined || !draft.isCounted || !hasBody(resource)) return fault;
  return source.members?.faultOf(covering, resource.name, (collection) =>
    newMembers(source, draft, collection),
  );
}

/**
 * Counts the members of a collection that this response adds: accepted already, and not cached yet.
 */
function newMembers(
  source: ClassifySource,
  { verdicts }: Classification,
  collection: Wanted,
): number {
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
  draft: Classification,
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
 * removes, unless the resource lists that alias (C-ALIAS-3).
 */
function coveringOf(
  { wants, parts }: ClassifySource,
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
  return constraints === undefined || covering.length === 0
    ? covering
    : parts.ofVariant(covering, constraints);
}

/** Classifies a removal: of a name, of a glob that has no members, or of the whole type (`*`). */
function classifyRemoved(
  source: ClassifySource,
  draft: Classification,
  removed: ReceivedName,
): void {
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
  draft: Classification,
  key: string,
  covering: readonly Wanted[],
): readonly Wanted[] {
  const isOwn = (wanted: Wanted): boolean => wanted.kind === "name" || wanted.key === key;
  return covering.length > 1 && covering.some(isOwn)
    ? covering.filter((wanted) => isOwn(wanted) || !isUnknown(source, draft, wanted))
    : covering;
}

/** Returns true if nothing of a collection has come on this stream, and nothing of it is cached. */
function isUnknown(
  source: ClassifySource,
  { unknown }: Classification,
  collection: Wanted,
): boolean {
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
function removeReal(
  source: ClassifySource,
  draft: Classification,
  aliases: readonly Wanted[],
): boolean {
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
 * Classifies the error of a name or a collection (S-ERR-5). An error of the data removes the
 * resource; a transient error is shown next to what is cached (C-ERR-4).
 */
function classifyError(
  source: ClassifySource,
  draft: Classification,
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

function hasBody(resource: ReceivedResource): resource is ReceivedResource & Resource {
  return resource.payload !== undefined;
}
