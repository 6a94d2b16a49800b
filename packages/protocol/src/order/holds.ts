import type { Entry, Reference, ResourceType } from "@xdstp/core";
import { nameKey } from "@xdstp/uri";
import { byName } from "../delivery/by-name.ts";
import type { ExchangeOwner } from "../delivery/exchange.ts";
import type { Repairable } from "../stream/repairs.ts";
import type { HeldBackName } from "../delivery/type-status.ts";
import type { AcceptedResponse, TypeHost } from "../stream/type-machine.ts";
import type { Lack } from "./ordered-type.ts";
import { referencesOf } from "./references-of.ts";

/**
 * Why a resource waits (S-ORD-2, S-ORD-4). `rejected`: it names what the client rejected and never had; that ends with the correction only.
 * `unaccepted`: it names what the client has not accepted since it was new. `cold`: it names a new cluster whose endpoints the client has not accepted.
 */
export type HoldReason = "rejected" | "unaccepted" | "cold";

/** One resource that waits for another. */
export interface Hold {
  /** The name of the resource. */
  readonly name: string;
  /** What the newest state of the resource names and the client lacks. */
  readonly reference: Reference;
  /** Why it waits for that. */
  readonly why: HoldReason;
  /** The state with which the wait began. It is sent once the client has what it names, if a newer state still has to wait: a series of changes starves no client. */
  readonly entry: Entry;
  /** Revision of the state that the client has meanwhile: what was removed later may still be in use. */
  readonly base: number;
  /** Begin of the wait by `Clock.now()`. */
  readonly since: number;
  /** The same moment in milliseconds since the epoch. */
  readonly sinceWallTime: number;
  /** What `entry` names and the client has accepted since, as `TYPE_URL\nNAME`. */
  readonly ready: Set<string>;
}

/** One type on one stream whose resources may have to wait for those of other types. */
export interface HoldOwner extends ExchangeOwner {
  /** Its stream. */
  readonly host: Pick<TypeHost, "sibling" | "schedule">;
  /** What is known of the type. */
  readonly type: ResourceType | undefined;
  /** What waits. undefined: nothing ever has. */
  holds: Holds | undefined;
}

/** Entries that can be sent now, and those that have to wait. */
export interface HeldBack {
  /** The same array where nothing waits, so that streams share its frame. */
  readonly entries: readonly Entry[];
  /** What waits, in its newest state. */
  readonly held: readonly Entry[];
  /** Revision from which to start again, where a wait that ends with these entries makes it earlier than that of the response. */
  readonly base: number;
}

/** Whether a first state may go: `stale`, something that it waits for does not exist any more, so it has to be composed again. */
export type GateState = "open" | "closed" | "stale";

const NO_NAMES: ReadonlySet<string> = new Set();

/** What waits of one type on one stream. Made with the first wait. */
export class Holds implements Repairable {
  /** Whether it is in the queue of repairs. Written by that queue alone. */
  repairQueued = false;
  /** By canonical key of the name: it may come in other spellings (N-40). */
  readonly byKey: Map<string, Hold> = new Map<string, Hold>();
  /** What the first state of the type waits for, as a whole: a client that comes back may take what is left out for removed. */
  #gate:
    { readonly since: number; awaited: ReadonlyMap<string, Reference> | undefined } | undefined;
  /** References that were waited for too long, each with the revision by then. */
  readonly #waived = new Map<string, number>();
  readonly #owner: HoldOwner;

  constructor(owner: HoldOwner) {
    this.#owner = owner;
  }

  /** Something waits. */
  get isWaiting(): boolean {
    return this.byKey.size > 0 || this.#gate !== undefined;
  }

  /** Revision from which the client has missed something that waits. */
  get from(): number {
    let from = Infinity;
    for (const { base } of this.byKey.values()) from = Math.min(from, base);
    return from;
  }

  /** Begin of the oldest wait that has a limit. */
  get unansweredSince(): number | undefined {
    let since = this.#gate?.since ?? Infinity;
    for (const hold of this.byKey.values())
      if (hold.why !== "rejected") since = Math.min(since, hold.since);
    return since === Infinity ? undefined : since;
  }

  /** Whether a name waits. */
  has(name: string): boolean {
    return this.byKey.size > 0 && this.byKey.has(nameKey(name));
  }

  /** Canonical keys of what waits now. The same empty set while nothing does. */
  get waiting(): ReadonlySet<string> {
    return this.byKey.size === 0 ? NO_NAMES : new Set(this.byKey.keys());
  }

  /** What waits, for operators. */
  names(): readonly HeldBackName[] {
    return [...this.byKey.values()].map(heldBackName);
  }

  /** Whether this is not waited for any more. What comes back is waited for again. */
  isWaived(reference: Reference): boolean {
    const key = referenceKey(reference);
    const revision = this.#waived.get(key);
    if (revision === undefined) return false;
    const since = this.#owner.host.sibling(reference.typeUrl)?.existsSince(reference.name) ?? 0;
    if (since > revision) this.#waived.delete(key);
    return since <= revision;
  }

  /** Makes a name wait, or replaces the reason for which it waits. */
  set(hold: Hold): void {
    this.byKey.set(nameKey(hold.name), hold);
    if (hold.why !== "rejected") this.#owner.context.waits.watch(this);
  }

  /** The first state was composed, or its parts were put back. */
  resetGate(): void {
    if (this.#gate !== undefined) this.#gate.awaited = undefined;
  }

  /** The stream is over: nothing is waited for. */
  end(): void {
    this.byKey.clear();
    this.#gate = undefined;
  }

  /** The first state was sent. */
  openGate(): void {
    this.#gate = undefined;
  }

  /** Whether a first state of these entries may go. It waits for all that it names and that the client has not accepted, but not for what the client rejected: that is left out. */
  gateOf(entries: readonly Entry[]): GateState {
    const owner = this.#owner;
    const gates = gatesOf(owner);
    const gate = (this.#gate ??= { since: owner.context.clock.now(), awaited: undefined });
    const awaited = new Map(gate.awaited ?? unacceptedIn(owner, gates, entries));
    let isStale = false;
    for (const [key, reference] of awaited) {
      const sibling = gates.get(reference.typeUrl);
      const lack = this.isWaived(reference) ? undefined : sibling?.lacks(reference.name);
      if (lack === "absent" && sibling?.carries(reference.name) !== true) isStale = true;
      else if (lack !== "unaccepted" && lack !== "absent") awaited.delete(key);
    }
    gate.awaited = awaited;
    if (awaited.size === 0) return "open";
    if (isStale) return "stale";
    owner.context.waits.watch(this);
    return "closed";
  }

  /** The client has accepted these of another type. */
  noteAccepted(typeUrl: string, response: AcceptedResponse): void {
    const type = this.#owner.type;
    if (type === undefined) return;
    const isIn = (reference: Reference): boolean =>
      reference.typeUrl === typeUrl && brings(response, reference.name);
    for (const { entry, ready } of this.byKey.values())
      if (entry.resource !== undefined)
        for (const reference of referencesOf(type, entry.resource))
          if (isIn(reference)) ready.add(referenceKey(reference));
    for (const { name } of this.#waived.size === 0 ? [] : response.entries)
      this.#waived.delete(referenceKey({ typeUrl, name }));
    if (this.#gate?.awaited !== undefined)
      this.#gate.awaited = new Map(
        [...this.#gate.awaited].filter(([, reference]) => !isIn(reference)),
      );
  }

  /** The limit has passed: what was waited for until now is waited for no longer, until the client accepts it. */
  repair(): void {
    const { context, stream, typeUrl, host } = this.#owner;
    const limit = context.clock.now() - context.limits.orderMs;
    const over = [...this.byKey.values()].filter(
      ({ why, since, reference }) =>
        why !== "rejected" &&
        since <= limit &&
        // Not drained since it was rejected: that wait has no limit.
        host.sibling(reference.typeUrl)?.lacks(reference.name) !== "rejected",
    );
    const { revision } = context.source;
    for (const { reference } of over) this.#waived.set(referenceKey(reference), revision);
    if (this.#gate !== undefined && this.#gate.since <= limit)
      for (const key of this.#gate.awaited?.keys() ?? []) this.#waived.set(key, revision);
    if (over.length === 0 && this.#gate === undefined) return;
    const names = over.map(heldBackName);
    context.emit?.({ kind: "order-expired", stream, what: "cut", typeUrls: [typeUrl], names });
    host.schedule();
  }
}

function heldBackName({ name, reference, why, sinceWallTime }: Hold): HeldBackName {
  return {
    name,
    for: reference.name,
    typeUrl: reference.typeUrl,
    why,
    since: sinceWallTime,
  };
}

/** A map key for what is referred to. */
export function referenceKey({ typeUrl, name }: Pick<Reference, "typeUrl" | "name">): string {
  return `${typeUrl}\n${name}`;
}

type Sibling = NonNullable<ReturnType<TypeHost["sibling"]>>;

/** The types of the stream that have to accept what this type names before it goes. */
function gatesOf({ type, host }: HoldOwner): ReadonlyMap<string, Sibling> {
  const gates = new Map<string, Sibling>();
  if (type?.references === undefined) return gates;
  for (const { typeUrl, when } of type.follows ?? []) {
    const sibling = when === "accepted" ? host.sibling(typeUrl) : undefined;
    if (sibling !== undefined) gates.set(typeUrl, sibling);
  }
  return gates;
}

/** Revision up to which the client has accepted all of this type, what waits included. */
function acceptedUpTo({ exchange, holds }: HoldOwner): number {
  return holds === undefined || holds.byKey.size === 0
    ? exchange.accepted
    : Math.min(exchange.accepted, holds.from);
}

/** Finds what an entry names and the client lacks. */
type FindLack = (
  entry: Entry,
) => { readonly reference: Reference; readonly why: HoldReason } | undefined;

const findNothing: FindLack = () => undefined;

/**
 * Nothing is looked at where every type that is followed is answered and has nothing new. The first state of a type waits as a whole
 * ({@link Holds.gateOf}), so that of it only what names something rejected is found.
 */
function lackFinder(owner: HoldOwner): FindLack {
  const { type, holds, exchange } = owner;
  const gates = gatesOf(owner);
  if (type === undefined || gates.size === 0) return findNothing;
  const isFirst = exchange.accepted === 0;
  const since = acceptedUpTo(owner);
  const mayBeCold = !isFirst && gates.values().some(({ accepted }) => accepted > since);
  if (!mayBeCold && !gates.values().some(({ isBehind }) => isBehind)) return findNothing;
  return ({ resource }) => {
    if (resource === undefined) return undefined;
    for (const reference of referencesOf(type, resource)) {
      const sibling = gates.get(reference.typeUrl);
      if (sibling === undefined || holds?.isWaived(reference) === true) continue;
      const lack = sibling.lacks(reference.name);
      if (lack === "rejected" || (lack === "unaccepted" && !isFirst))
        return { reference, why: lack };
      if (lack === undefined && mayBeCold && sibling.isCold(reference.name, since))
        return { reference, why: "cold" };
    }
    return undefined;
  };
}

function unacceptedIn(
  { type }: HoldOwner,
  gates: ReadonlyMap<string, Sibling>,
  entries: readonly Entry[],
): ReadonlyMap<string, Reference> {
  const found = new Map<string, Reference>();
  if (type === undefined || !gates.values().some(({ isBehind }) => isBehind)) return found;
  for (const { resource } of entries)
    for (const reference of resource === undefined ? [] : referencesOf(type, resource))
      if (gates.get(reference.typeUrl)?.lacks(reference.name) === "unaccepted")
        found.set(referenceKey(reference), reference);
  return found;
}

/** What the wait began with may go: the client has all that it names. */
function mayGo(owner: HoldOwner, { entry, ready, why }: Hold): boolean {
  const { type } = owner;
  if (type === undefined || entry.resource === undefined) return false;
  const gates = gatesOf(owner);
  const since = acceptedUpTo(owner);
  return referencesOf(type, entry.resource).every((reference) => {
    const sibling = gates.get(reference.typeUrl);
    const lack = sibling?.lacks(reference.name);
    // It was removed meanwhile, and the client keeps it for as long as this waits.
    if (lack === "absent") return why !== "cold" && ready.has(referenceKey(reference));
    return lack === undefined && sibling?.isCold(reference.name, since) !== true;
  });
}

/** What the wait began with can still go one day. */
function mayStillGo(owner: HoldOwner, { entry, ready }: Hold): boolean {
  const { type, host } = owner;
  if (type === undefined || entry.resource === undefined) return false;
  const gates = gatesOf(owner);
  return referencesOf(type, entry.resource).every((reference) => {
    const sibling = gates.get(reference.typeUrl);
    return (
      sibling?.lacks(reference.name) !== "absent" ||
      ready.has(referenceKey(reference)) ||
      host.sibling(reference.typeUrl)?.carries(reference.name) === true
    );
  });
}

/**
 * Leaves out what names something that the client does not have yet: it would point at nothing (S-ORD-2, S-ORD-4).
 * A name that waited already and of which the state that waited may go by now goes in that state.
 * @param base - Revision from which to start again if the response is rejected
 * @param isFullState - A name that is not among the entries does not exist any more
 */
export function holdBack(
  owner: HoldOwner,
  entries: readonly Entry[],
  base: number,
  isFullState = false,
): HeldBack {
  const lackOf = lackFinder(owner);
  const before = owner.holds?.byKey;
  if (lackOf === findNothing && (before === undefined || before.size === 0))
    return { entries, held: NOTHING, base };
  const held: Entry[] = [];
  const kept: Entry[] = [];
  const begun: HeldBackName[] = [];
  let earliest = base;
  const end = (name: string): void => {
    const hold = before?.get(nameKey(name));
    if (hold === undefined) return;
    earliest = Math.min(earliest, hold.base);
    before?.delete(nameKey(name));
  };
  const lacks = entries.map((entry) => [entry, lackOf(entry)] as const);
  for (const [entry, lack] of lacks) {
    const { name } = entry;
    if (lack === undefined) {
      end(name);
      continue;
    }
    held.push(entry);
    const known = owner.holds?.byKey.get(nameKey(name));
    const isKept = known !== undefined && known.entry !== entry && mayGo(owner, known);
    if (isKept) kept.push(known.entry);
    const next = nextHold(owner, entry, lack, known, isKept, base);
    if (isKept) earliest = Math.min(earliest, known.base);
    if (known === undefined) begun.push(heldBackName(next));
    (owner.holds ??= new Holds(owner)).set(next);
  }
  if (isFullState && before !== undefined && before.size > 0) {
    const keys = new Set(entries.map(({ name }) => nameKey(name)));
    for (const [key, { name }] of [...before]) if (!keys.has(key)) end(name);
  }
  if (held.length === 0) return { entries, held, base: earliest };
  reportHeld(owner, begun);
  const waits = new Set(held);
  return {
    entries: [...entries.filter((entry) => !waits.has(entry)), ...kept],
    held,
    base: earliest,
  };
}

const NOTHING: readonly Entry[] = [];

function nextHold(
  owner: HoldOwner,
  entry: Entry,
  { reference, why }: { readonly reference: Reference; readonly why: HoldReason },
  known: Hold | undefined,
  isKept: boolean,
  base: number,
): Hold {
  const { clock } = owner.context;
  const isSame = known?.why === why || (known?.why !== "rejected" && why !== "rejected");
  const began = known !== undefined && !isKept && isSame ? known : undefined;
  const kept = isKept ? known : undefined;
  const stays = known !== undefined && !isKept && mayStillGo(owner, known);
  return {
    name: entry.name,
    reference,
    why,
    entry: stays ? known.entry : entry,
    ready: stays ? known.ready : new Set(),
    base: kept !== undefined ? kept.entry.revision : Math.min(base, known?.base ?? Infinity),
    since: began?.since ?? clock.now(),
    sinceWallTime: began?.sinceWallTime ?? clock.wallTime(),
  };
}

function reportHeld({ context, stream, typeUrl }: HoldOwner, names: readonly HeldBackName[]): void {
  if (names.length > 0) context.emit?.({ kind: "held-back", stream, typeUrl, names });
}

/**
 * Finds the names that can be sent now: in their newest state, or in the one with which the wait began.
 * @param newest - The newest state of a name as this client should see it; undefined: it has no part in the subscription any more
 */
export function releasable(
  owner: HoldOwner,
  newest: (name: string) => Entry | undefined,
): readonly string[] {
  const { holds } = owner;
  if (holds === undefined || holds.byKey.size === 0) return [];
  const lackOf = lackFinder(owner);
  const names: string[] = [];
  for (const [key, hold] of [...holds.byKey]) {
    const { name } = hold;
    const entry = newest(name);
    if (entry === undefined) {
      holds.byKey.delete(key);
      continue;
    }
    if (entry.resource === undefined) continue; // the removal goes in its own order
    const lack = lackOf(entry);
    if (lack === undefined || (hold.entry !== entry && mayGo(owner, hold))) names.push(name);
    else if (lack.why !== hold.why || lack.reference.name !== hold.reference.name)
      holds.set(nextHold(owner, entry, lack, hold, false, hold.base));
  }
  return names;
}

/** A response that was rejected and would wait now stays rejected: it is not sent only because what it names is there (S-ACK-8). What waited `before` may have been requested. */
export function leaveRejected(
  { holds }: HoldOwner,
  before: ReadonlySet<string> | undefined,
  rejected: readonly Entry[],
): void {
  for (const { name } of rejected)
    if (before?.has(nameKey(name)) !== true) holds?.byKey.delete(nameKey(name));
}

/** What a client lacks of a name of a type on the stream. */
export function lackOf({ exchange, holds }: HoldOwner, entry: Entry | undefined): Lack | undefined {
  if (entry?.resource === undefined) return "absent";
  const { rejected, accepted } = exchange;
  if (rejected !== undefined && entry.since > rejected.base) return "rejected";
  return entry.since > accepted || holds?.has(entry.name) === true ? "unaccepted" : undefined;
}

/** Whether the response that is not answered yet brings this name. */
export function carriesName({ exchange: { inFlight } }: HoldOwner, name: string): boolean {
  return inFlight !== undefined && brings(inFlight, name);
}

/** Whether a response carries the new state of a name. A full state also has names that were removed and are still in use. */
function brings({ entries, base }: AcceptedResponse, name: string): boolean {
  const entry = byName(entries).get(name);
  return entry?.resource !== undefined && entry.revision > base;
}
