import type { Clock, Entry, Reference, ResourceType } from "@xdstp/core";
import { nameKey } from "@xdstp/uri";

import { entryKey } from "../delivery/entries.ts";
import type { Exchange } from "../delivery/exchange.ts";
import { type HeldBackName, type Hold, type Holds, NO_HOLDS } from "./hold.ts";
import type { TypeHost } from "../stream/type-machine.ts";
import { referencesOf } from "./references-of.ts";

/** The type whose names wait, on one stream. */
export interface HoldOwner {
  /** What all streams of the server share. */
  readonly context: {
    readonly clock: Pick<Clock, "now">;
    readonly limits: { readonly orderMs: number };
    readonly source: { readonly revision: number };
  };
  /** The type. undefined: it has no descriptor. */
  readonly type: ResourceType | undefined;
  /** Its place in the order of sending (S-ORD-1). */
  readonly rank: number;
  /** The stream. */
  readonly host: Pick<TypeHost, "sibling">;
  /** What the client has accepted. */
  readonly exchange: Pick<Exchange, "accepted">;
  /** Revision of the source up to which the type has been read. */
  readonly sent: number;
  /** The names that wait now. Written by the functions of this file. */
  heldBack: Holds;
}

/** Names that wait one by one on a stream. A response with more of them waits as a whole: a list of all names for each client would take too much memory. */
export const MOST_HOLDS = 64;

/** Options of {@link holdBack}. */
export interface HoldOptions {
  /** The client misses the names that are left out from this revision on. */
  readonly from: number;
  /** false: the limit has passed, so only what was rejected is waited for. Default: true. */
  readonly isLimited?: boolean;
  /** Whether the response has to show this entry: it is never left out. Default: none of them. */
  readonly mustShow?: (entry: Entry) => boolean;
  /** Whether the client was sent this very entry and has not rejected it: it does not wait again. Default: none of them. */
  readonly isShown?: (entry: Entry) => boolean;
}

/**
 * Leaves out the entries that refer to a name which the client does not have: they would point at nothing (S-ORD-2, S-ORD-4). The other entries are sent, and their names wait no longer.
 * @returns the same array where nothing waits, so that streams share its frame
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
 * All variants of a name go together: the removal of one stays with the variant that takes its place and waits, and goes with that, or with the removal of the name (S-DYN-5).
 * A removal that goes ends the wait of its name.
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

/** Of a variant, or of a name. */
function idOf(entry: Entry): string {
  return entryKey(entry, nameKey(entry.name));
}

function never(): boolean {
  return false;
}

/** Options of {@link waitsAsWhole}. */
export interface WholeOptions extends Pick<HoldOptions, "mustShow" | "isShown"> {
  /** An empty response would say that there is nothing. */
  readonly isNeverEmpty: boolean;
}

/** Returns whether a response waits as a whole: more of its names would wait than wait one by one, a name would wait that it must show, or all of them would and it may not be empty. */
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
 * Looks again at what waits, and forgets the names that are not wanted any more.
 * @param newest - The present state of a name. undefined: it is not wanted, or the client is not told of its removal. A removal goes its own way: it does not wait for what the name referred to
 * @returns the names that may go by now, in this state or in the older one, or have waited for too long
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

/** A name that lacks nothing now may lack something when it is to be sent, so its time runs on. */
function nextPhase({ context }: HoldOwner, hold: Hold, lack: Lack | undefined, now: number): Hold {
  if (lack === undefined && hold.phase !== "unaccepted") return hold;
  if (lack?.phase === "rejected") return { ...hold, ...lack };
  const since = hold.phase === "rejected" ? now : hold.since;
  return now >= since + context.limits.orderMs
    ? { ...hold, phase: "released", since }
    : { ...hold, ...lack, since };
}

/** Returns when the oldest wait with a limit began; Infinity where no wait has one. */
export function heldSince(holds: Holds): number {
  if (holds.size === 0) return Infinity;
  return holds
    .values()
    .reduce(
      (oldest, { phase, since }) => (phase === "unaccepted" ? Math.min(oldest, since) : oldest),
      Infinity,
    );
}

/** The names that wait, as operators read them. `isShown`: which of these. */
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

/** The revision from which the client has missed something that waits; Infinity: nothing waits. */
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

/** What was rejected and would wait now stays rejected: it is not owed once what it refers to is there (S-ACK-8). What waited `before` may have been requested. */
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

/** Whether the older state of a name may go before the newest, still waits, or will not go: it refers to what does not exist any more. */
function progressOf(
  owner: HoldOwner,
  { entry: older, at }: Hold,
  { resource }: Entry,
): "ready" | "waits" | "obsolete" {
  // The log does not say which variant of a name replaces which.
  const areVariants =
    older.resource?.constraints !== undefined || resource?.constraints !== undefined;
  if (older.resource === undefined || areVariants || isObsoleteEntry(owner, older, at))
    return "obsolete";
  return lackOf(owner, older, true, at) === undefined ? "ready" : "waits";
}

/** Whether what was taken refers to what was removed since, and the client will not have: then its newest state goes. */
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

/** A removal waits until nothing refers to it any more, so the client has what it had accepted by then. */
function isLost(owner: HoldOwner, { typeUrl, name }: Reference, at: number): boolean {
  const gate = gateOf(owner, typeUrl);
  return gate?.misses(name) === true && gate.removed(name, at) === "never-sent";
}

/** Returns the name that a client lacks for an entry, and why. A name that is not accepted counts only while its wait is limited. */
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

/** `at`: the revision of the source at which the reference was read; what was removed since may still be on its way. */
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

/** Whether an entry may lack something: else none of them is looked at. */
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

/** The first routes of a client do not wait for endpoints: it is not known what the client does with a new cluster before them. */
function hasAccepted({ exchange }: HoldOwner): boolean {
  return exchange.accepted > 0;
}

const referenced = new WeakMap<readonly Entry[], readonly Reference[]>();

/** Returns the names that these entries refer to, each once. They are read once per array, since streams share arrays. */
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

/** A type that has to be accepted first, as it is on this stream. Types that follow each other in a ring rank the same, and do not wait for each other. */
function gateOf({ type, rank, host }: HoldOwner, typeUrl: string): Gate | undefined {
  if (type === undefined || !gatesOf(type).includes(typeUrl)) return undefined;
  const gate = host.sibling(typeUrl);
  return gate !== undefined && gate.rank < rank ? gate : undefined;
}

type Gate = NonNullable<ReturnType<TypeHost["sibling"]>>;

const known = new WeakMap<ResourceType, readonly string[]>();

/** The types whose resources have to be accepted before what refers to them goes out. */
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
