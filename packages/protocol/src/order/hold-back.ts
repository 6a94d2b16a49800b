import type { Clock, Entry, Reference, ResourceType } from "@xdstp/core";
import { nameKey } from "@xdstp/uri";

import { entryKey } from "../delivery/entries.ts";
import type { Exchange } from "../delivery/exchange.ts";
import { type HeldBackName, type Hold, type Holds, NO_HOLDS } from "./hold.ts";
import type { TypeHost } from "../stream/type-machine.ts";
import { referencesOf } from "./references-of.ts";

/** One type on one stream, whose names may wait. */
export interface HoldOwner {
  /** The context that all streams of the server share. */
  readonly context: {
    readonly clock: Pick<Clock, "now">;
    readonly limits: { readonly orderMs: number };
    readonly source: { readonly revision: number };
  };
  /** The descriptor of the type. undefined: it has none. */
  readonly type: ResourceType | undefined;
  /** Its rank in the order of sending (S-ORD-1). */
  readonly rank: number;
  /** The stream. */
  readonly host: Pick<TypeHost, "sibling">;
  /** The revision that the client has accepted. */
  readonly exchange: Pick<Exchange, "accepted">;
  /** The revision of the source up to which the type has been read. */
  readonly sent: number;
  /** The names that wait now. Only the functions of this file write it. */
  heldBack: Holds;
}

/**
 * The greatest number of names that wait one by one on a stream. A response with more of them waits
 * as a whole, since a list of all names for each client would take too much memory.
 */
export const MOST_HOLDS = 64;

/** Options of {@link holdBack}. */
export interface HoldOptions {
  /** The revision after which the client misses the names that are left out. */
  readonly from: number;
  /** False: the time limit has passed, so names wait only for what was rejected. Default: true. */
  readonly isLimited?: boolean;
  /**
   * Returns true if the response has to have this entry, so that it is never left out. Default:
   * false for all.
   */
  readonly mustShow?: (entry: Entry) => boolean;
  /**
   * Returns true if the client was sent exactly this entry and has not rejected it, so that it does
   * not wait again. Default: false for all.
   */
  readonly isShown?: (entry: Entry) => boolean;
}

/**
 * Leaves out the entries that refer to a name which the client does not have (S-ORD-2, S-ORD-4).
 * The other entries are sent, and their names no longer wait.
 * @returns the same array if nothing waits, so that streams share its frame
 */
export function holdBack(
  owner: HoldOwner,
  entries: readonly Entry[],
  { from, isLimited = true, mustShow = never, isShown = never }: HoldOptions,
): readonly Entry[] {
  const before = owner.heldBack;
  if (before.size === 0 && !lacksSomething(owner, entries)) return entries;
  const now = owner.context.clock.now();
  const holds = new Map(before);
  const waiting = new Set<string>();
  const additions = entries.flatMap((entry) => {
    if (entry.resource === undefined) return entry;
    const key = nameKey(entry.name);
    const hold = before.get(key);
    const lack = isShown(entry)
      ? undefined
      : lackOf(owner, entry, isLimited && hold?.phase !== "released", owner.sent);
    if (lack === undefined || mustShow(entry)) {
      if (!waiting.has(key)) holds.delete(key);
      return entry;
    }
    const { sent: at } = owner;
    const waits = { ...lack, entry, from, since: now, at };
    const older = hold === undefined ? "waits" : progressOf(owner, hold, entry);
    if (hold !== undefined && hold.phase !== "removed" && older === "ready") {
      holds.set(key, { ...waits, from: hold.entry.revision, replaced: undefined });
      return hold.entry;
    }
    waiting.add(key);
    if (hold === undefined) holds.set(key, { ...waits, replaced: undefined });
    else if (hold.phase === "removed")
      holds.set(key, { ...waits, from: hold.from, replaced: hold.replaced });
    else holds.set(key, { ...hold, ...lack, ...(older === "obsolete" ? { entry, at } : {}) });
    return [];
  });
  const sendable =
    holds.size + before.size === 0 ? additions : withReplaced(additions, before, holds, waiting);
  if (holds.size > 0 || before.size > 0) owner.heldBack = holds.size === 0 ? NO_HOLDS : holds;
  return sendable.length === entries.length &&
    sendable.every((entry, index) => entry === entries[index])
    ? entries
    : sendable;
}

/**
 * Keeps the variants of a name together. The removal of a variant stays with the variant that
 * replaces it while that one waits; it is sent with that variant, or with the removal of the name
 * (S-DYN-5).
 * A removal that is sent ends the wait of its name.
 */
function withReplaced(
  entries: readonly Entry[],
  before: Holds,
  holds: Map<string, Hold>,
  waiting: ReadonlySet<string>,
): readonly Entry[] {
  const isAdded = ({ resource }: Entry): boolean => resource !== undefined;
  const added = new Set(entries.filter(isAdded).map(({ name }) => nameKey(name)));
  const due = entries.filter((entry) => {
    const key = nameKey(entry.name);
    const hold = holds.get(key);
    if (hold === undefined || (added.has(key) && !waiting.has(key))) return true;
    const isReplaced = waiting.has(key) || (hold.phase !== "removed" && isVariant(entry, hold));
    if (!isReplaced) holds.delete(key);
    else if (entry.resource === undefined)
      holds.set(key, { ...hold, replaced: [...(hold.replaced ?? []), entry] });
    return !isReplaced;
  });
  const went = [...before].flatMap(([key, { replaced = [] }]) =>
    waiting.has(key) || (holds.has(key) && !added.has(key)) ? [] : replaced,
  );
  if (went.length === 0) return due;
  const known = new Map([...went, ...due].map((entry) => [idOf(entry), entry]));
  return [...known.values()];
}

function isVariant({ constraints }: Entry, { entry }: Hold): boolean {
  return constraints !== undefined || entry.resource?.constraints !== undefined;
}

/** Returns a key for an entry: of its variant, or of its name. */
function idOf(entry: Entry): string {
  return entryKey(entry, nameKey(entry.name));
}

function never(): boolean {
  return false;
}

/** Options of {@link waitsAsWhole}. */
export interface WholeOptions extends Pick<HoldOptions, "mustShow" | "isShown"> {
  /** True if the response must not be empty, since an empty one would mean that nothing exists. */
  readonly isNeverEmpty: boolean;
}

/**
 * Returns true if a response waits as a whole: more of its names would wait than may wait one by
 * one, or a name that it must have would wait, or all of them would wait and it must not be empty.
 */
export function waitsAsWhole(
  owner: HoldOwner,
  entries: readonly Entry[],
  { mustShow = never, isShown = never, isNeverEmpty }: WholeOptions,
): boolean {
  if (!lacksSomething(owner, entries)) return false;
  const lacking = entries.filter(
    (entry) => !isShown(entry) && lackOf(owner, entry, true, owner.sent) !== undefined,
  );
  const added = lacking.filter(({ name }) => !owner.heldBack.has(nameKey(name)));
  return (
    owner.heldBack.size + added.length > MOST_HOLDS ||
    lacking.some(mustShow) ||
    (isNeverEmpty && lacking.length > 0 && lacking.length === entries.length)
  );
}

/**
 * Checks the names that wait, and forgets those that are no longer subscribed.
 * @param newest - Returns the present state of a name. undefined: it is not subscribed, or no
 * response can report its removal. A removal does not wait for what the name referred to
 * @returns the names that can be sent now, in their present state or in the older one, or that have
 * waited for too long
 */
export function releaseHolds(
  owner: HoldOwner,
  newest: (name: string) => Entry | "removed" | undefined,
): readonly string[] {
  const now = owner.context.clock.now();
  const ready: string[] = [];
  const holds = new Map<string, Hold>();
  for (const [key, hold] of owner.heldBack) {
    const entry = newest(hold.entry.name);
    if (entry === undefined) continue;
    if (entry === "removed" || entry.resource === undefined || hold.phase === "removed") {
      holds.set(key, { ...hold, phase: "removed" });
      continue;
    }
    const lack = lackOf(owner, entry, hold.phase !== "released", Infinity);
    const next = nextPhase(owner, hold, lack, now);
    if (
      lack === undefined ||
      next.phase === "released" ||
      (entry !== hold.entry && progressOf(owner, next, entry) === "ready")
    )
      ready.push(hold.entry.name);
    holds.set(key, next);
  }
  owner.heldBack = holds.size === 0 ? NO_HOLDS : holds;
  return ready;
}

/**
 * Returns the next phase of a wait. A name that lacks nothing now may lack something again when it
 * is to be sent, so its time limit continues.
 */
function nextPhase({ context }: HoldOwner, hold: Hold, lack: Lack | undefined, now: number): Hold {
  if (lack === undefined && hold.phase !== "unaccepted") return hold;
  if (lack?.phase === "rejected") return { ...hold, ...lack };
  const since = hold.phase === "rejected" ? now : hold.since;
  return now >= since + context.limits.orderMs
    ? { ...hold, phase: "released", since }
    : { ...hold, ...lack, since };
}

/**
 * Returns when the oldest wait with a time limit began, by `Clock.now()`; Infinity: no wait has
 * one.
 */
export function heldSince(holds: Holds): number {
  if (holds.size === 0) return Infinity;
  return holds
    .values()
    .reduce(
      (oldest, { phase, since }) => (phase === "unaccepted" ? Math.min(oldest, since) : oldest),
      Infinity,
    );
}

/** Returns the names that wait, as operators read them. `isShown` selects them; by default all. */
export function heldNames(
  holds: Holds,
  clock: Pick<Clock, "now" | "wallTime">,
  isShown: (hold: Hold) => boolean = () => true,
): readonly HeldBackName[] {
  const toWallTime = clock.wallTime() - clock.now();
  return [...holds.values()].filter(isShown).map(({ entry, lacking, since }) => ({
    name: entry.name,
    for: lacking.name,
    forType: lacking.typeUrl,
    since: toWallTime + since,
  }));
}

/**
 * Returns the smallest revision after which the client has missed something that waits; Infinity:
 * nothing waits.
 */
export function heldBackFrom(holds: Holds): number {
  if (holds.size === 0) return Infinity;
  return holds.values().reduce((least, { from }) => Math.min(least, from), Infinity);
}

/** Returns the gathered entries that wait. */
export function heldBackOf(
  gathered: readonly Entry[],
  sendable: readonly Entry[],
  holds: Holds,
): readonly Entry[] {
  return gathered === sendable || holds.size === 0
    ? []
    : gathered.filter(({ name }) => holds.has(nameKey(name)));
}

/**
 * Removes names from those that wait if they were rejected: they stay rejected, and are not owed
 * once what they refer to is accepted (S-ACK-8). Names that waited `before` are kept, since they
 * may have been requested.
 */
export function leaveRejected(
  owner: Pick<HoldOwner, "heldBack">,
  before: Holds,
  rejected: readonly Entry[],
): void {
  if (owner.heldBack.size === 0) return;
  const names = new Set(rejected.map(({ name }) => nameKey(name)));
  const left = [...owner.heldBack].filter(([key]) => before.has(key) || !names.has(key));
  owner.heldBack = left.length === 0 ? NO_HOLDS : new Map(left);
}

/**
 * Returns what becomes of the older state of a name. `ready`: it can be sent before the newest
 * state. `waits`: it still waits. `obsolete`: it refers to a name that does not exist any more, so
 * it is not sent.
 */
function progressOf(
  owner: HoldOwner,
  { entry: older, at }: Hold,
  { resource }: Entry,
): "ready" | "waits" | "obsolete" {
  // The log does not say which variant of a name replaces which one.
  const areVariants =
    older.resource?.constraints !== undefined || resource?.constraints !== undefined;
  if (older.resource === undefined || areVariants || isObsoleteEntry(owner, older, at))
    return "obsolete";
  return lackOf(owner, older, true, at) === undefined ? "ready" : "waits";
}

/**
 * Returns true if a response that was taken refers to a name that was removed since, and that the
 * client will not have. The newest state is sent instead.
 */
export function isObsolete(owner: HoldOwner, entries: readonly Entry[]): boolean {
  const { type, sent, context } = owner;
  if (type?.references === undefined || context.source.revision === sent) return false;
  return referencedBy(type, entries).some((reference) => isLost(owner, reference, sent));
}

function isObsoleteEntry(owner: HoldOwner, { resource }: Entry, at: number): boolean {
  const { type } = owner;
  return (
    type !== undefined &&
    resource !== undefined &&
    referencesOf(type, resource).some((reference) => isLost(owner, reference, at))
  );
}

/**
 * A removal waits until nothing refers to the name any more, so the client keeps what it had
 * accepted by then.
 */
function isLost(owner: HoldOwner, { typeUrl, name }: Reference, at: number): boolean {
  const gate = gateOf(owner, typeUrl);
  return gate?.misses(name) === true && gate.removed(name, at) === "never-sent";
}

/**
 * Returns the name that a client lacks for an entry, and why. A name that is not accepted counts
 * only while the wait for it has a time limit (`isLimited`).
 */
function lackOf(
  owner: HoldOwner,
  { resource }: Entry,
  isLimited: boolean,
  at: number,
): Lack | undefined {
  const { type } = owner;
  if (resource === undefined || type?.references === undefined) return undefined;
  let unaccepted: Lack | undefined;
  for (const reference of referencesOf(type, resource)) {
    const lack = lackOfReference(owner, reference, isLimited && unaccepted === undefined, at);
    if (lack?.phase === "rejected") return lack;
    unaccepted ??= lack;
  }
  return unaccepted;
}

/** A name that a client lacks: it has not accepted the name, or has rejected it. */
type Lack = Pick<Hold, "phase" | "lacking">;

/**
 * Returns the name if the client lacks it. `at`: the revision of the source at which the reference
 * was read; a name that was removed since may still be on its way.
 */
function lackOfReference(
  owner: HoldOwner,
  reference: Reference,
  isLimited: boolean,
  at: number,
): Lack | undefined {
  const { typeUrl, name } = reference;
  const gate = gateOf(owner, typeUrl);
  if (gate === undefined) return undefined;
  if (gate.misses(name))
    return isLimited && at < Infinity && gate.removed(name, at) === "in-flight"
      ? { phase: "unaccepted", lacking: reference }
      : undefined;
  if (gate.lacks(name)) return { phase: "rejected", lacking: reference };
  return isLimited && (gate.awaits(name) || (hasAccepted(owner) && gate.isCold(name)))
    ? { phase: "unaccepted", lacking: reference }
    : undefined;
}

/**
 * Returns true if one of the entries lacks a name. The references are read only if one of the types
 * that this one follows may be lacking something.
 */
function lacksSomething(owner: HoldOwner, entries: readonly Entry[]): boolean {
  const { type } = owner;
  return (
    type?.references !== undefined &&
    gatesOf(type).some((typeUrl) => mayLack(owner, typeUrl)) &&
    referencedBy(type, entries).some(
      (reference) => lackOfReference(owner, reference, true, owner.sent) !== undefined,
    )
  );
}

function mayLack(owner: HoldOwner, typeUrl: string): boolean {
  const gate = gateOf(owner, typeUrl);
  return gate !== undefined && (gate.isBusy || (hasAccepted(owner) && gate.mayBeCold));
}

/**
 * Returns true if the client has accepted a response. Its first routes do not wait for endpoints,
 * since it is not known whether the client accepts a new cluster before it has endpoints.
 */
function hasAccepted({ exchange }: HoldOwner): boolean {
  return exchange.accepted > 0;
}

const referenced = new WeakMap<readonly Entry[], readonly Reference[]>();

/**
 * Returns the names that these entries refer to, each once. They are computed once per array, since
 * streams share arrays.
 */
function referencedBy(type: ResourceType, entries: readonly Entry[]): readonly Reference[] {
  let all = referenced.get(entries);
  if (all === undefined) {
    const byName = new Map<string, Reference>();
    for (const { resource } of entries)
      for (const reference of resource === undefined ? [] : referencesOf(type, resource))
        byName.set(`${reference.typeUrl}\n${reference.name}`, reference);
    referenced.set(entries, (all = [...byName.values()]));
  }
  return all;
}

/**
 * Returns the state of a type on this stream that has to be accepted first. Types that follow each
 * other in a ring have the same rank, and do not wait for each other.
 */
function gateOf({ type, rank, host }: HoldOwner, typeUrl: string): Gate | undefined {
  if (type === undefined || !gatesOf(type).includes(typeUrl)) return undefined;
  const gate = host.sibling(typeUrl);
  return gate !== undefined && gate.rank < rank ? gate : undefined;
}

type Gate = NonNullable<ReturnType<TypeHost["sibling"]>>;

const known = new WeakMap<ResourceType, readonly string[]>();

/**
 * Returns the types whose resources have to be accepted before resources that refer to them are
 * sent.
 */
function gatesOf(type: ResourceType): readonly string[] {
  let gates = known.get(type);
  if (gates === undefined) {
    gates = (type.follows ?? [])
      .filter(({ when }) => when === "accepted")
      .map(({ typeUrl }) => typeUrl);
    known.set(type, gates);
  }
  return gates;
}
