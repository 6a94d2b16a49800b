import { type Entry, type Interest, StatusCode, type Topic, type Watcher } from "@xdstp/core";
import {
  addHash,
  answeredUpTo,
  baseOf,
  type Beating,
  type BeatOutcome,
  createExchange,
  createSmallMap,
  createSmallSet,
  type FrameProfile,
  hashOf,
  releaseHolds,
  removedName,
  type RemovedName,
  retryRejected,
  type Holds,
  heldBackFrom,
  heldBackOf,
  holdBack,
  isColdSince,
  isLongerThan,
  isRejectedAndNew,
  longAccepted,
  isRepetition,
  isServedBy,
  leaveRejected,
  type MissedReference,
  type NackError,
  NO_HOLDS,
  noteAccepted,
  noteNothingSent,
  parseNonce,
  quirksOf,
  rankOf,
  missedBy,
  recordAnswer,
  rejectedFrom,
  rejectHeartbeat,
  type RequestScan,
  type ServerContext,
  settledBy,
  statusOf,
  type StreamInfo,
  type StreamLimits,
  type TypeHost,
  type TypeMachine,
  type TypeStatus,
  type TypeView,
  isObsolete,
  waitsAsWhole,
} from "@xdstp/protocol/server";
import { answerAgain } from "./answer-again.ts";
import type { DeltaRequest } from "./decode-request.ts";
import { NONE_HELD, type DeltaState } from "./delta-state.ts";
import { hasLeftovers } from "./first-answer.ts";
import { gather, takeHeld } from "./gather.ts";
import type { Gathered } from "./gathered.ts";
import { doubt, heldListOf } from "./held-by-client.ts";
import { heldBaseOf, heldEntries } from "./held-removals.ts";
import { beat, noteAnswer, noteHolding } from "./heartbeat.ts";
import { coveringTopic, isCovered, keyOf, lookUp, topicsOf } from "./lookup.ts";
import { endOpenError, oweOpenError } from "./open-error.ts";
import { endKnownMembers, oweKnownMembers } from "./known-members.ts";
import { oweLost } from "./owe-lost.ts";
import { send } from "./send.ts";
import { leavingWith, locate, subscribe } from "./subscribe.ts";
import { putBack, take } from "./take.ts";
import { unlocate, unsubscribe } from "./unsubscribe.ts";
import { stateHash } from "./state-version.ts";
import { awaits, hasAccepted, viewOf } from "./view-of.ts";

/** One type on one delta stream. */
export function createDeltaType(
  context: ServerContext,
  host: TypeHost,
  typeUrl: string,
  stream: StreamInfo,
  profile: FrameProfile,
): TypeMachine<DeltaRequest> {
  return new DeltaType(context, host, typeUrl, stream, profile);
}

class DeltaType implements TypeMachine<DeltaRequest>, Watcher, Beating {
  readonly typeUrl: string;
  repairQueued = false;
  readonly #state: DeltaState;
  #first = true;
  #repairing = false;

  constructor(
    context: ServerContext,
    host: TypeHost,
    typeUrl: string,
    stream: StreamInfo,
    profile: FrameProfile,
  ) {
    this.typeUrl = typeUrl;
    this.#state = {
      context,
      host,
      stream,
      typeUrl,
      profile,
      watcher: this,
      exchange: createExchange(),
      type: context.source.descriptor(typeUrl),
      rank: rankOf(context.source, typeUrl),
      quirks: quirksOf(context.quirks, host.node?.userAgentName ?? ""),
      topics: createSmallMap(),
      located: undefined,
      counted: undefined,
      globs: 0,
      nameLength: 0,
      aliased: undefined,
      sent: 0,
      answered: false,
      unsettled: createSmallMap(),
      unanswered: createSmallMap(),
      unaccepted: createSmallSet(),
      openErrors: undefined,
      knownMembers: undefined,
      dirty: createSmallSet(),
      owed: createSmallSet(),
      held: [],
      initial: undefined,
      initialShared: false,
      lifetimes: undefined,
      taken: undefined,
      heldBack: NO_HOLDS,
    };
  }

  get rank(): number {
    return this.#state.rank;
  }
  get inFlight(): boolean {
    return this.#state.exchange.inFlight !== undefined && !this.#repairing;
  }
  get overdue(): boolean {
    return this.#repairing;
  }
  get unansweredSince(): number | undefined {
    return this.#state.exchange.inFlight?.repairedAt;
  }
  get taken(): boolean {
    return this.#state.taken !== undefined;
  }
  get mayBeCold(): boolean {
    return this.#state.exchange.accepted > longAccepted(this.#state);
  }
  get isObsolete(): boolean {
    const { taken } = this.#state;
    return taken !== undefined && isObsolete(this.#state, taken.gathered.entries);
  }
  get waitsAsWhole(): boolean {
    const { taken, answered } = this.#state;
    if (taken === undefined) return false;
    const { entries, origin } = taken.gathered;
    return waitsAsWhole(this.#state, entries, {
      isNeverEmpty: !answered || this.#answersWildcard(origin),
    });
  }
  get isBusy(): boolean {
    const { exchange, taken, heldBack } = this.#state;
    return (
      exchange.inFlight !== undefined ||
      exchange.rejected !== undefined ||
      taken !== undefined ||
      heldBack.size > 0 ||
      this.pending
    );
  }
  get rejecting(): boolean {
    return this.#state.exchange.rejected !== undefined;
  }
  get rejectedFrom(): number {
    return rejectedFrom(this.#state.exchange, heldBackFrom(this.#state.heldBack));
  }
  get knowsReferences(): boolean {
    return this.#state.type?.references !== undefined;
  }
  get heldBack(): Holds {
    return this.#state.heldBack;
  }
  get heldFrom(): number {
    const { sent } = this.#state;
    return heldEntries(this.#state).reduce(
      (oldest, { revision }) => Math.min(oldest, revision),
      hasLeftovers(this.#state) ? sent : Infinity,
    );
  }
  get heldBase(): number {
    return hasLeftovers(this.#state) ? NONE_HELD : heldBaseOf(this.#state);
  }
  get answeredUpTo(): number {
    return answeredUpTo(this.#state.exchange, this.#state.taken?.gathered);
  }
  get unsentFrom(): number {
    const { unanswered, owed, exchange } = this.#state;
    if (!this.pending) return Infinity;
    return unanswered.size + owed.size > 0 ? -1 : exchange.accepted;
  }
  get pending(): boolean {
    const { dirty, unanswered, owed, exchange, answered, unsettled } = this.#state;
    return (
      dirty.size > 0 ||
      unanswered.size > 0 ||
      owed.size > 0 ||
      exchange.rejected?.again === true ||
      (!answered && unsettled.size === 0)
    );
  }

  request(request: DeltaRequest): void {
    const first = this.#first;
    this.#first = false;
    const { limits } = this.#state.context;
    const excess =
      longListOf(limits, request) ??
      (first ? excessOf(limits, request.initialVersions) : undefined);
    if (excess !== undefined) {
      this.#state.host.end(StatusCode.RESOURCE_EXHAUSTED, ...excess);
      return;
    }
    if (countOf(request) > 0) this.#state.host.thaw();
    if (first) this.#begin(request);
    else if (this.#state.initial !== undefined)
      doubt(this.#state, namesIn(request.subscribe, request.locate)); // S-RECON-5: later subscriptions are repeated
    const leaving = leavingWith(this.#state, request);
    if (
      !request.subscribe.every((name) => subscribe(this.#state, name, leaving)) ||
      !request.locate.every((interest) => locate(this.#state, interest, leaving))
    )
      return;
    for (const name of request.unsubscribe) unsubscribe(this.#state, name);
    for (const interest of request.unlocate) unlocate(this.#state, interest);
    this.#report(request);
    if (!first && request.nonce !== "") this.#answer(parseNonce(request.nonce), request.error);
    if (this.#state.exchange.inFlight !== undefined) this.#state.context.repairs.watch(this);
  }

  plainAck(scan: RequestScan): boolean {
    if (this.#first || scan.nonce < 0) return false;
    this.#answer(scan.nonce, undefined);
    return true;
  }

  wake(topic: Topic): void {
    const { unsettled, unanswered, dirty, exchange, context, host, sent } = this.#state;
    const isNew = unsettled.has(topic);
    if (!isNew && topic.head <= sent) return; // its supply is broken, or whole again: nothing to send, and no change of what was rejected (S-ACK-8)
    if (isNew) this.#settle(topic);
    else if (!unanswered.has(topic)) dirty.add(topic);
    if (exchange.rejected !== undefined) exchange.rejected.again = true;
    if (exchange.inFlight !== undefined) context.repairs.watch(this);
    host.schedule();
  }

  repair(): void {
    if (!this.pending && !this.taken) return;
    this.#repairing = true;
    this.#state.host.schedule();
  }

  drain(removeUpTo: number, isLimited = true): void {
    const { taken } = this.#state;
    this.#state.taken = undefined;
    const gathered = taken?.gathered ?? gather(this.#state, removeUpTo);
    if (gathered === undefined) {
      this.#fallBehind();
      return;
    }
    const sent = this.#send(gathered, isLimited);
    noteHolding(this.#state, sent, taken?.holding);
  }

  beat(ttlMs: number): BeatOutcome {
    return beat(this.#state, ttlMs);
  }

  take(removeUpTo: number): void {
    this.#state.taken = take(this.#state, removeUpTo);
    if (this.#state.taken === undefined) this.#fallBehind();
  }

  putBack(): void {
    const { taken } = this.#state;
    this.#state.taken = undefined;
    if (taken !== undefined) putBack(this.#state, taken);
  }

  releaseHolds(): void {
    const ready = releaseHolds(this.#state, (name) =>
      isCovered(this.#state, name) ? lookUp(this.#state, name) : undefined,
    );
    const { owed, exchange } = this.#state;
    for (const name of ready) owed.add(name);
    if (ready.length > 0 && exchange.rejected !== undefined) exchange.rejected.again = true;
  }

  release(removeUpTo: number): void {
    const entries = takeHeld(this.#state, removeUpTo);
    if (entries.length === 0) return;
    const named = new Set(entries.map(({ name }) => name));
    this.#send({
      entries,
      origin: { answered: new Set(), changed: new Set(), named },
      base: this.#state.exchange.accepted,
      asked: false,
      heldBase: Infinity,
      label: undefined,
      hash: stateHash(this.#state, []),
    });
    noteHolding(this.#state, entries, undefined);
  }

  get mayRetry(): boolean {
    const { rejected } = this.#state.exchange;
    return rejected !== undefined && rejected.missed.length > 0;
  }

  retryRejected(): void {
    retryRejected(this.#state);
  }

  hasAccepted(name: string, isSentAgain?: boolean): boolean {
    return hasAccepted(this.#state, name, isSentAgain);
  }

  lacks(name: string): boolean {
    const entry = lookUp(this.#state, name);
    return entry !== undefined && isRejectedAndNew(this.#state.exchange, entry);
  }

  removed(name: string, at: number): RemovedName {
    return removedName(this.#state, coveringTopic(this.#state, name), name, at);
  }

  awaits(name: string): boolean {
    return awaits(this.#state, name);
  }

  isCold(name: string): boolean {
    const entry = isCovered(this.#state, name) ? lookUp(this.#state, name) : undefined;
    return (
      entry !== undefined &&
      isColdSince(this.#state.type, this.#state.host, entry, longAccepted(this.#state))
    );
  }

  misses(name: string): boolean {
    return isCovered(this.#state, name)
      ? lookUp(this.#state, name)?.resource === undefined
      : isServedBy(this.#state.context.source, name);
  }

  warm(name: string): void {
    const { owed, taken } = this.#state;
    const key = keyOf(name);
    if (taken?.gathered.entries.some((entry) => keyOf(entry.name) === key) === true) return; // it goes after what it is sent for
    const own = topicsOf(this.#state, key);
    for (const topic of own) answerAgain(this.#state, topic);
    if (own.length === 0 && isCovered(this.#state, name)) owed.add(name);
    if (this.#state.exchange.inFlight !== undefined) this.#state.context.repairs.watch(this);
  }

  get subscriptions(): number {
    return this.#state.topics.size;
  }
  get nameLength(): number {
    return this.#state.nameLength;
  }

  status(): TypeStatus {
    const { topics, answered, dirty, unsettled, taken, heldBack } = this.#state;
    return statusOf(this.#state, {
      subscriptions: topics.size,
      wildcard: topicsOf(this.#state, "*").length > 0,
      answered,
      updates: dirty.size > 0 || taken !== undefined,
      unsettled: unsettled.size > 0,
      heldBack,
    });
  }

  view(): TypeView {
    return viewOf(this.#state);
  }

  close(): void {
    if (this.#state.lifetimes !== undefined) this.#state.context.heartbeats.drop(this);
    for (const topic of this.#state.topics.values()) topic.unwatch(this);
    this.#state.topics.clear();
  }

  /** The first message of a type: what the client holds (S-RECON-5), and the wildcard that empty lists mean (S-WILD-3, S-WILD-6). */
  #begin(request: DeltaRequest): void {
    const { initialVersions } = request;
    const state = this.#state;
    if (initialVersions.size > 0) {
      state.initial = heldListOf(initialVersions);
      state.initialShared = true;
    }
    const wildcard = (state.type?.legacyWildcard ?? true) && state.quirks.legacyWildcard;
    if (wildcard && countOf(request) === 0) subscribe(state, "*");
  }

  #answer(given: number, error: NackError | undefined): void {
    const { exchange, lifetimes, host } = this.#state;
    const nonce = settledBy(lifetimes, exchange, given);
    if (nonce === 0) {
      if (error !== undefined) this.#sendAnew(given, error);
      return;
    }
    const { inFlight } = exchange;
    if (error !== undefined || inFlight?.rejection !== undefined) host.thaw();
    const missed = error && this.#missedBy;
    if (!recordAnswer(this.#state, nonce, error, this.#hasMoved, missed)) return;
    if (inFlight?.narrowed === true) oweLost(this.#state, inFlight.entries);
    noteAnswer(this.#state);
    if (exchange.rejected === undefined) noteAccepted(this.#state);
  }

  #answersWildcard({ answered }: Gathered["origin"]): boolean {
    return topicsOf(this.#state, "*").some((wildcard) => answered.has(wildcard));
  }

  /** Made for a rejection only: a stream that rejects nothing keeps no function for it. */
  get #missedBy(): (entries: readonly Entry[]) => readonly MissedReference[] {
    return (entries) => missedBy(this.#state.type, this.#state.host, entries);
  }

  /** A client that rejects a heartbeat does not have its resource. */
  #sendAnew(nonce: number, error: NackError): void {
    rejectHeartbeat(this.#state, nonce, error);
    for (const { name, resource } of this.#state.lifetimes?.sent ?? [])
      if (resource?.ttlMs !== undefined && isCovered(this.#state, name)) this.#state.owed.add(name);
    this.#state.host.schedule();
  }

  /** What was sent last has changed since; also a topic that was requested again, and removals that wait. */
  get #hasMoved(): boolean {
    const {
      dirty,
      unanswered,
      sent,
      exchange: { inFlight },
    } = this.#state;
    if (dirty.size > 0 || inFlight === undefined) return dirty.size > 0;
    if (heldEntries(this.#state).some(({ revision }) => revision > inFlight.upTo)) return true;
    return unanswered
      .keys()
      .some(
        (topic) =>
          topic.head > sent &&
          (inFlight.origin.answered.has(topic) || inFlight.origin.changed.has(topic)),
      );
  }

  #settle(topic: Topic): void {
    const { unsettled, unanswered } = this.#state;
    if (!topic.settled) {
      oweOpenError(this.#state, topic);
      oweKnownMembers(this.#state, topic);
      return;
    }
    const since = unsettled.get(topic) ?? NONE_HELD;
    unsettled.delete(topic);
    endOpenError(this.#state, topic);
    if (endKnownMembers(this.#state, topic)) this.#state.dirty.add(topic);
    else unanswered.set(topic, since);
  }

  /**
   * An empty response goes out only as the first one, and then not while names are pending, or to answer a wildcard (S-RECON-6, S-WILD-7, S-ACK-11).
   * @returns what of it was sent, or did not have to be
   */
  #send(gathered: Gathered, isLimited = true): readonly Entry[] {
    const { answered, unsettled, dirty, exchange, profile, heldBack: before } = this.#state;
    const sendable = this.#withoutHolds(gathered, isLimited);
    this.#repairing = false;
    if (
      isRepetition(
        exchange,
        gathered.rejected,
        sendable.entries,
        heldBackOf(gathered.entries, sendable.entries, this.#state.heldBack),
        profile,
        dirty.size > 0,
      )
    ) {
      leaveRejected(this.#state, before, gathered.rejected?.entries ?? []);
      return sendable.entries;
    }
    const due = (unsettled.size === 0 && !answered) || this.#answersWildcard(gathered.origin);
    const isSent = (sendable.entries.length > 0 || due) && send(this.#state, sendable, due);
    if (!isSent) noteNothingSent(this.#state);
    return sendable.entries;
  }

  /** Leaves out what refers to a name that the client does not have (S-ORD-2, S-ORD-4). Of what has waited the client may have a state that is older than all that it was sent. */
  #withoutHolds(gathered: Gathered, isLimited: boolean): Gathered {
    const asked = gathered.asked || this.#state.heldBack.size > 0;
    const entries = holdBack(this.#state, gathered.entries, {
      from: Math.min(baseOf(gathered), gathered.heldBase),
      isLimited,
    });
    if (entries === gathered.entries)
      return asked === gathered.asked ? gathered : { ...gathered, asked };
    const [before, after] = [new Set(gathered.entries), new Set(entries)];
    const left = hashOf(gathered.entries.filter((entry) => !after.has(entry)));
    const earlier = hashOf(entries.filter((entry) => !before.has(entry)));
    return {
      ...gathered,
      entries,
      asked,
      label: undefined,
      hash: addHash(addHash(gathered.hash, -left), earlier),
    };
  }

  #fallBehind(): void {
    this.#state.host.end(
      StatusCode.UNAVAILABLE,
      "too far behind: reconnect with the cached versions",
    );
  }

  #report({
    subscribe: plain,
    unsubscribe: ended,
    locate: located,
    unlocate: unlocated,
  }: DeltaRequest): void {
    const { context, stream, typeUrl } = this.#state;
    const added = namesIn(plain, located);
    const dropped = namesIn(ended, unlocated);
    if (added.length > 0 || dropped.length > 0)
      context.emit?.({ kind: "subscribe", stream, typeUrl, added, dropped });
  }
}

/** A list is no longer than what it can concern, also one of names that were never asked for, or of one name again and again. */
function longListOf(
  { subscriptions }: StreamLimits,
  { subscribe: added, unsubscribe: dropped, locate: located, unlocate: unlocated }: DeltaRequest,
): readonly [message: string, limit: keyof StreamLimits] | undefined {
  if (added.length + located.length > subscriptions)
    return [`more than ${subscriptions} subscriptions of one type`, "subscriptions"];
  return dropped.length + unlocated.length > subscriptions
    ? [`more than ${subscriptions} names to unsubscribe in one request`, "subscriptions"]
    : undefined;
}

/** Why a list of what a client holds cannot be kept (S-LIM-4). */
function excessOf(
  { heldVersions, nameLength }: StreamLimits,
  initial: ReadonlyMap<string, string>,
): readonly [message: string, limit: keyof StreamLimits] | undefined {
  if (initial.size > heldVersions)
    return [`more than ${heldVersions} initial_resource_versions`, "heldVersions"];
  return initial.keys().some((name) => isLongerThan(name, nameLength))
    ? [`a name in initial_resource_versions is longer than ${nameLength} bytes`, "nameLength"]
    : undefined;
}

function countOf({
  subscribe: added,
  unsubscribe: dropped,
  locate: located,
  unlocate: unlocated,
}: DeltaRequest): number {
  return added.length + dropped.length + located.length + unlocated.length;
}

/** Names, with and without dynamic parameters. */
function namesIn(names: readonly string[], interests: readonly Interest[]): readonly string[] {
  return interests.length === 0 ? names : [...names, ...interests.map(({ name }) => name)];
}
