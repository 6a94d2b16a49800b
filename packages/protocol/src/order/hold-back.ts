import type { Clock, Entry, Reference, ResourceType } from "@xdstp/core";
import { nameKey } from "@xdstp/uri";

import type { Exchange } from "../delivery/exchange.ts";
import type { HeldBackName } from "../delivery/held-back-name.ts";
import type { TypeHost } from "../stream/type-machine.ts";
import { type Hold, type Holds, NO_HOLDS } from "./hold.ts";
import { referencesOf } from "./references-of.ts";

/** The type whose names wait, on one stream. */
export interface HoldOwner {
  /** What all streams of the server share. */
  readonly context: {
    readonly clock: Pick<Clock, "now">;
    readonly limits: { readonly orderMs: number };
  };
  /** The type. undefined: it has no descriptor. */
  readonly type: ResourceType | undefined;
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

/**
 * Leaves out what refers to a name that the client does not have: it would point at nothing (S-ORD-2, S-ORD-4). What is left is sent, and its names wait no longer.
 * @param from - Revision from which the client misses what is left out
 * @param isLimited - false: the limit has passed, so only what was rejected is waited for
 * @returns the same array where nothing waits, so that streams share its frame
 */
export function holdBack(
  owner: HoldOwner,
  entries: readonly Entry[],
  from: number,
  isLimited = true,
): readonly Entry[] {
  const before = owner.heldBack;
  if (before.size === 0 && !mayLack(owner)) return entries;
  const now = owner.context.clock.now();
  const holds = new Map(before);
  const sendable = entries.flatMap((entry) => {
    const key = nameKey(entry.name);
    const hold = before.get(key);
    const lack = lackOf(owner, entry, isLimited && hold?.phase !== "released");
    if (lack === undefined) {
      holds.delete(key);
      return entry;
    }
    const { sent: at, exchange } = owner;
    const waits = { ...lack, entry, from, since: now, accepted: exchange.accepted, at };
    if (hold === undefined) {
      holds.set(key, waits);
      return [];
    }
    const older = progressOf(owner, hold, entry);
    if (older === "ready") {
      holds.set(key, { ...waits, from: hold.entry.revision });
      return hold.entry;
    }
    holds.set(key, { ...hold, ...lack, ...(older === "obsolete" ? { entry, at } : {}) });
    return [];
  });
  if (holds.size > 0 || before.size > 0) owner.heldBack = holds.size === 0 ? NO_HOLDS : holds;
  return sendable.length === entries.length &&
    sendable.every((entry, index) => entry === entries[index])
    ? entries
    : sendable;
}

/** Whether more of these names would wait than wait one by one. */
export function wouldHoldMany(owner: HoldOwner, entries: readonly Entry[]): boolean {
  if (entries.length <= MOST_HOLDS - owner.heldBack.size || !mayLack(owner)) return false;
  let count = owner.heldBack.size;
  for (const entry of entries)
    if (
      !owner.heldBack.has(nameKey(entry.name)) &&
      lackOf(owner, entry, true) !== undefined &&
      ++count > MOST_HOLDS
    )
      return true;
  return false;
}

/**
 * Looks again at what waits, and forgets the names that are not wanted any more.
 * @param newest - The present state of a name. undefined: it is not wanted. A removal goes its own way: it does not wait for what the name referred to
 * @returns the names that may go by now, in this state or in the older one, or have waited for too long
 */
export function releaseHolds(
  owner: HoldOwner,
  newest: (name: string) => Entry | undefined,
): readonly string[] {
  const now = owner.context.clock.now();
  const ready: string[] = [];
  const holds = new Map<string, Hold>();
  for (const [key, hold] of owner.heldBack) {
    const entry = newest(hold.entry.name);
    if (entry?.resource === undefined) continue;
    const lack = lackOf(owner, entry, hold.phase !== "released");
    const next = lack === undefined ? hold : nextPhase(owner, hold, lack, now);
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

function nextPhase(
  { context }: HoldOwner,
  hold: Hold,
  lack: Pick<Hold, "phase" | "lacking">,
  now: number,
): Hold {
  if (lack.phase === "rejected") return { ...hold, ...lack };
  const since = hold.phase === "rejected" ? now : hold.since;
  return now >= since + context.limits.orderMs
    ? { ...hold, phase: "released", since }
    : { ...hold, ...lack, since };
}

/** When the oldest wait with a limit began; Infinity: there is none. */
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

/** What of these was gathered and waits. */
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
  const { type, host } = owner;
  // Which variant of a name replaces which nobody knows here.
  if (older.resource === undefined || type === undefined || resource?.constraints !== undefined)
    return "obsolete";
  const gates = gatesOf(type);
  if (older.resource.constraints !== undefined) return "obsolete";
  let progress: "ready" | "waits" = lackOf(owner, older, true) === undefined ? "ready" : "waits";
  for (const { typeUrl, name } of referencesOf(type, older.resource)) {
    const sibling = gates.includes(typeUrl) ? host.sibling(typeUrl) : undefined;
    // A removal waits until nothing refers to it any more, so the client has what it had accepted by then.
    const removed = sibling?.misses(name) === true ? sibling.removed(name, at) : "accepted";
    if (removed === "never-sent") return "obsolete";
    if (removed === "in-flight") progress = "waits";
  }
  return progress;
}

/** What a client lacks for an entry, and why. A wait for what is not accepted is asked about only where it has a limit. */
function lackOf(
  owner: HoldOwner,
  { resource }: Entry,
  isLimited: boolean,
): Pick<Hold, "phase" | "lacking"> | undefined {
  const { type, host } = owner;
  if (resource === undefined || type?.references === undefined) return undefined;
  const accepted = acceptedBefore(owner);
  const gates = gatesOf(type);
  let unaccepted: Reference | undefined;
  for (const reference of referencesOf(type, resource)) {
    const { typeUrl, name } = reference;
    const sibling = gates.includes(typeUrl) ? host.sibling(typeUrl) : undefined;
    if (sibling === undefined) continue;
    if (sibling.lacks(name)) return { phase: "rejected", lacking: reference };
    if (!isLimited || unaccepted !== undefined) continue;
    // What a client does with a new cluster before its first routes nobody knows.
    if (sibling.awaits(name) || (accepted > 0 && sibling.isCold(name, accepted)))
      unaccepted = reference;
  }
  return unaccepted === undefined ? undefined : { phase: "unaccepted", lacking: unaccepted };
}

/** Something that the type refers to may not be accepted: else no reference is read. */
function mayLack(owner: HoldOwner): boolean {
  const { type, host } = owner;
  if (type?.references === undefined) return false;
  const accepted = acceptedBefore(owner);
  return gatesOf(type).some((typeUrl) => {
    const sibling = host.sibling(typeUrl);
    return (
      sibling !== undefined && (sibling.isBusy || (accepted > 0 && sibling.accepted > accepted))
    );
  });
}

/** What the client had accepted of the type before the first of the names waited: a cluster that is newer is new to its routes. */
function acceptedBefore({ heldBack, exchange }: HoldOwner): number {
  return heldBack.size === 0
    ? exchange.accepted
    : heldBack.values().reduce((least, hold) => Math.min(least, hold.accepted), exchange.accepted);
}

const known = new WeakMap<ResourceType, readonly string[]>();
const NONE: readonly string[] = [];

/** The types whose resources have to be accepted before what refers to them goes out. */
function gatesOf(type: ResourceType): readonly string[] {
  let gates = known.get(type);
  if (gates === undefined) {
    gates = (type.follows ?? NONE_FOLLOWED)
      .filter(({ when }) => when === "accepted")
      .map(({ typeUrl }) => typeUrl);
    known.set(type, gates.length === 0 ? NONE : gates);
  }
  return gates;
}

const NONE_FOLLOWED: NonNullable<ResourceType["follows"]> = [];
