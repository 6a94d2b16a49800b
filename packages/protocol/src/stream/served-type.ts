import { type Entry, StatusCode, type Topic, type Watcher } from "@xdstp/core";
import { nameKey } from "@xdstp/uri";
import { answeredUpTo, isRejectedAndNew, rejectedFrom } from "../delivery/answered-up-to.ts";
import { byName } from "../delivery/entries.ts";
import { type Delivery, deliveryOf } from "../delivery/delivery-of.ts";
import {
  createExchange,
  giveBack,
  longAccepted,
  noteChanged,
  recordAnswer,
  startsAgain,
} from "../delivery/exchange.ts";
import { beat, holdingAfter, noteHolding, noteHoldingAnswered } from "../delivery/holding.ts";
import { rejectHeartbeat, settledBy } from "../delivery/lifetimes.ts";
import { type RemovedName, removedName } from "../delivery/removed-name.ts";
import { statusOf } from "../delivery/status-of.ts";
import type { TypeStatus } from "../delivery/type-status.ts";
import type { TypeView } from "../delivery/type-view.ts";
import { isColdSince, isServedBy } from "../order/cold.ts";
import { heldBackFrom, isObsolete, releaseHolds, waitsAsWhole } from "../order/hold-back.ts";
import type { Holds } from "../order/hold.ts";
import { noteAccepted } from "../order/note-accepted.ts";
import { rankOf } from "../order/relations.ts";
import { missedBy, retryRejected } from "../order/retry-rejected.ts";
import { coveringTopic } from "../subscription/subscriptions.ts";
import type { RequestScan } from "../wire/scan-request.ts";
import type { BeatOutcome, Beating } from "./heartbeats.ts";
import { parseNonce } from "./parse-nonce.ts";
import { quirksOf } from "./quirks.ts";
import type { Gathered, Pending, ServedType, ServerVariant, TypeOrigin } from "./server-variant.ts";
import type { MissedReference, NackError } from "./stream-event.ts";
import type { DecodedRequest, TypeMachine } from "./type-machine.ts";

/** Creates the machine that serves one type on one stream in a variant. */
export function createServedType<
  Request extends DecodedRequest,
  State extends ServedType<Response, Before>,
  Response extends Gathered,
  Before,
>(
  variant: ServerVariant<Request, State, Response, Before>,
  origin: TypeOrigin,
): TypeMachine<Request> {
  return new Machine(variant, origin);
}

/**
 * The phase of a type. `new`: before its first request. `served`: its responses are sent and
 * answered. `overdue`: an answer has been missing for too long, so the newest state may be sent
 * while the response is unanswered (S-ACK-16).
 */
type Phase = "new" | "served" | "overdue";

class Machine<
  Request extends DecodedRequest,
  State extends ServedType<Response, Before>,
  Response extends Gathered,
  Before,
>
  implements TypeMachine<Request>, Watcher, Beating
{
  readonly typeUrl: string;
  repairQueued = false;
  readonly #variant: ServerVariant<Request, State, Response, Before>;
  readonly #state: State;
  #phase: Phase = "new";
  /** The revision as of which the client had all, when nothing was open last, and the nonce that it had accepted then. */
  #settledAt = 0;
  #settledNonce = 0;
  /** The newest nonce at the last time that a name waited. */
  #heldBackAt = -1;

  constructor(
    variant: ServerVariant<Request, State, Response, Before>,
    { context, host, typeUrl, stream }: TypeOrigin,
  ) {
    this.typeUrl = typeUrl;
    this.#variant = variant;
    this.#state = variant.createState({
      context,
      host,
      stream,
      typeUrl,
      watcher: this,
      exchange: createExchange(),
      type: context.source.descriptor(typeUrl),
      rank: rankOf(context.source, typeUrl),
      quirks: quirksOf(context.quirks, host.node?.userAgentName ?? ""),
    });
  }

  get rank(): number {
    return this.#state.rank;
  }
  get inFlight(): boolean {
    return this.#state.exchange.inFlight !== undefined && this.#phase !== "overdue";
  }
  get overdue(): boolean {
    return this.#phase === "overdue";
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
    const { taken } = this.#state;
    if (taken === undefined) return false;
    const options = this.#variant.responses.wholeOptions(this.#state, taken.gathered);
    return waitsAsWhole(this.#state, taken.gathered.entries, options);
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
    return this.#variant.removals.from(this.#state);
  }
  get heldBase(): number {
    return this.#variant.removals.base(this.#state);
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
    const { dirty, unanswered, owed, exchange } = this.#state;
    return this.#variant.responses.isPending(
      this.#state,
      dirty.size > 0 || unanswered.size > 0 || owed.size > 0 || startsAgain(exchange),
    );
  }
  get mayRetry(): boolean {
    const { rejected } = this.#state.exchange;
    return rejected !== undefined && rejected.missed.length > 0;
  }
  get subscriptions(): number {
    return this.#state.topics.size;
  }
  get nameLength(): number {
    return this.#state.nameLength;
  }

  request(request: Request): void {
    const isFirst = this.#phase === "new";
    if (isFirst) this.#phase = "served";
    if (this.#variant.requests.subscribe(this.#state, request, isFirst))
      this.#answer(parseNonce(request.nonce), request.error);
    // A client without subscriptions uses nothing of the old state, so no removal has to wait for
    // what it rejected (S-ORD-3).
    if (this.subscriptions === 0) this.#state.exchange.rejected = undefined;
    this.#watchRepair();
  }

  plainAck(scan: RequestScan, message: Uint8Array): boolean {
    if (this.#phase === "new" || !this.#variant.requests.isPlainAck(this.#state, message, scan))
      return false;
    this.#answer(scan.nonce, undefined);
    return true;
  }

  wake(topic: Topic): void {
    const { unsettled, unanswered, dirty, exchange, host, sent } = this.#state;
    const isNew = unsettled.has(topic);
    if (!isNew && topic.head <= sent) return; // its supply is broken, or whole again: nothing to send, and no change of what was rejected (S-ACK-8)
    if (isNew) this.#variant.requests.settle(this.#state, topic);
    else if (!unanswered.has(topic)) dirty.add(topic);
    noteChanged(exchange);
    this.#watchRepair();
    host.schedule();
  }

  /** True if something has to be sent, or a removal waits, while a response is unanswered. */
  get #needsRepair(): boolean {
    return this.pending || this.taken || this.heldFrom < Infinity;
  }

  awaitRepair(): void {
    if (this.inFlight && this.#needsRepair) this.#watchRepair();
  }

  repair(): void {
    if (!this.#needsRepair) return;
    this.#phase = "overdue";
    this.#state.host.schedule();
  }

  drain(removeUpTo: number, isLimited = true): void {
    const { taken } = this.#state;
    this.#state.taken = undefined;
    const gathered = taken?.gathered ?? this.#variant.responses.gather(this.#state, removeUpTo);
    if (gathered === undefined) this.#fallBehind();
    else this.#deliver(gathered, isLimited, taken?.holding);
  }

  release(removeUpTo: number): void {
    const gathered = this.#variant.removals.gather(this.#state, removeUpTo);
    if (gathered !== undefined) this.#deliver(gathered, true, undefined);
  }

  take(removeUpTo: number): void {
    const state = this.#state;
    const pending = pendingOf(state);
    const before = this.#variant.responses.copyPending(state);
    const gathered = this.#variant.responses.gather(state, removeUpTo);
    if (gathered === undefined) this.#fallBehind();
    else {
      const holding = holdingAfter(state, this.#variant, gathered.entries);
      state.taken = { gathered, pending, before, holding };
    }
  }

  putBack(): void {
    const { taken, dirty, owed, exchange } = this.#state;
    if (taken === undefined) return;
    this.#state.taken = undefined;
    const { pending, before } = taken;
    this.#state.sent = pending.sent;
    for (const topic of pending.dirty) dirty.add(topic);
    for (const name of pending.owed) owed.add(name);
    if (pending.rejected !== undefined) giveBack(exchange, pending.rejected);
    this.#variant.responses.putBack(this.#state, before);
  }

  releaseHolds(): void {
    const { owed, exchange, taken } = this.#state;
    const ready = releaseHolds(this.#state, (name) => this.#variant.names.newest(this.#state, name))
      // The response that was taken has these names and is sent first, so they would be sent twice.
      .filter((name) => taken === undefined || !byName(taken.gathered.entries).has(name));
    for (const name of ready) owed.add(name);
    if (ready.length > 0) noteChanged(exchange);
  }

  retryRejected(): void {
    retryRejected(this.#state);
  }

  beat(ttlMs: number): BeatOutcome {
    return beat(this.#state, this.#variant, ttlMs);
  }

  hasAccepted(name: string, isSentAgain = false): boolean {
    const topic = coveringTopic(this.#state, name);
    const entry = topic?.get(name) ?? this.#byAlias(topic, name);
    if (topic === undefined || entry?.resource === undefined) return false;
    if (isSentAgain && entry.revision <= this.#state.exchange.accepted) return true;
    return this.#deliveryOf(topic, entry) === "accepted";
  }

  lacks(name: string): boolean {
    const entry = this.#find(name);
    return entry !== undefined && isRejectedAndNew(this.#state.exchange, entry);
  }

  removed(name: string, at: number): RemovedName {
    return removedName(this.#state, coveringTopic(this.#state, name), name, at);
  }

  awaits(name: string): boolean {
    const { heldBack, exchange, unaccepted } = this.#state;
    const topic = coveringTopic(this.#state, name);
    const own = topic?.get(name);
    const entry = own ?? this.#byAlias(topic, name);
    if (topic === undefined || entry?.resource === undefined) return false;
    if (heldBack.has(nameKey(entry.name))) return true;
    // Its earlier states may not have had the alias.
    const since = own === undefined ? entry.revision : entry.since;
    if (since <= exchange.accepted && !unaccepted.has(topic)) return false;
    if (this.#variant.names.mayHaveFromBefore(this.#state, entry.name)) return false;
    if (this.#variant.names.isToBeSent(this.#state, topic, entry)) return true;
    const far = this.#deliveryOf(topic, entry);
    return far === "in-flight" || far === "rejected";
  }

  isCold(name: string): boolean {
    const { type, host } = this.#state;
    const entry = this.#find(name);
    // A name that the client may have from an earlier stream waits for the names that refer to it,
    // so these do not wait for it.
    return (
      entry !== undefined &&
      !this.#variant.names.mayHaveFromBefore(this.#state, entry.name) &&
      isColdSince(type, host, entry, longAccepted(this.#state))
    );
  }

  misses(name: string): boolean {
    return this.#variant.names.isCovered(this.#state, name)
      ? this.#find(name)?.resource === undefined
      : isServedBy(this.#state.context.source, name);
  }

  warm(name: string): void {
    const key = nameKey(name);
    const { taken } = this.#state;
    if (taken?.gathered.entries.some((entry) => nameKey(entry.name) === key) === true) return; // it goes after what it is sent for
    this.#variant.names.warm(this.#state, name);
    this.#watchRepair();
  }

  status(): TypeStatus {
    const { answered, dirty, unsettled, taken, heldBack } = this.#state;
    return statusOf(this.#state, {
      subscriptions: this.subscriptions,
      wildcard: coveringTopic(this.#state, "*") !== undefined,
      answered,
      updates: dirty.size > 0 || taken !== undefined,
      unsettled: unsettled.size > 0,
      heldBack,
    });
  }

  view(): TypeView {
    const { typeUrl, exchange, heldBack, taken, unaccepted, profile } = this.#state;
    return {
      typeUrl,
      exchange,
      settled: {
        revision: this.#settledAt,
        isNewest: exchange.nonceAccepted === this.#settledNonce,
      },
      heldBack,
      waitsAsWhole: taken !== undefined,
      isUnaccepted: (topic) => unaccepted.has(topic),
      mayHaveFromBefore: (name) => this.#variant.names.mayHaveFromBefore(this.#state, name),
      unsendable: (entry) => profile.encode([entry], "").notSent[0],
      topics: [...this.#state.topics.values()],
      acceptedUpTo: Math.min(exchange.accepted, heldBackFrom(heldBack)),
      removals: this.#variant.removals.form(this.#state),
      isPending: (topic, entry) => this.#variant.names.isToBeSent(this.#state, topic, entry),
    };
  }

  close(): void {
    const { topics, lifetimes, context } = this.#state;
    this.#variant.close(this.#state);
    if (lifetimes !== undefined) context.heartbeats.drop(this);
    for (const topic of topics.values()) topic.unwatch(this);
    topics.clear();
  }

  #deliver(gathered: Response, isLimited: boolean, holding: readonly Entry[] | undefined): void {
    const { exchange, unaccepted } = this.#state;
    const { nonceSent, accepted } = exchange;
    const wasOpen = unaccepted.size > 0 || gathered.rejected !== undefined;
    const sent = this.#variant.responses.deliver(this.#state, gathered, isLimited);
    if (exchange.nonceSent !== nonceSent) this.#phase = "served";
    noteHolding(this.#state, this.#variant, sent, holding);
    this.#noteSettled();
    // Nothing had to be sent: what was rejected or requested before may count as accepted now.
    if (wasOpen && exchange.accepted !== accepted && exchange.accepted !== this.#settledAt)
      this.#settledNonce = -1;
    this.awaitRepair();
  }

  /**
   * Applies an answer. An error with a nonce that is already answered is not a new NACK (S-ACK-19).
   */
  #answer(given: number, error: NackError | undefined): void {
    const state = this.#state;
    const { exchange, lifetimes, host } = state;
    const nonce = settledBy(lifetimes, exchange, given);
    if (nonce === 0) {
      if (error !== undefined) this.#sendAgain(given, error);
      return;
    }
    const { inFlight } = exchange;
    const isRejected = error !== undefined || inFlight?.rejection !== undefined;
    if (isRejected) host.thaw();
    const hasMoved = isRejected && this.#variant.requests.hasMoved(state);
    const missed = error && this.#missedBy;
    if (!recordAnswer(state, nonce, error, hasMoved, missed)) {
      // A part of what is unanswered was accepted, next to others that may be rejected.
      if (inFlight !== undefined && nonce >= inFlight.first && nonce < inFlight.last)
        this.#settledNonce = -1;
      return;
    }
    this.#phase = "served";
    this.#variant.requests.noteAnswer(state, inFlight);
    noteHoldingAnswered(state);
    if (exchange.rejected === undefined) noteAccepted(state);
    this.#noteSettled();
  }

  #noteSettled(): void {
    const { exchange, heldBack, taken, owed, unaccepted } = this.#state;
    if (heldBack.size > 0) this.#heldBackAt = exchange.nonceSent;
    if (exchange.inFlight !== undefined || exchange.rejected !== undefined || taken !== undefined)
      return;
    if (owed.size + unaccepted.size > 0 || this.heldBase < Infinity || this.pending) return;
    // A resource that waited may have been removed, and was never sent then.
    if (exchange.nonceAccepted <= this.#heldBackAt) return;
    this.#settledAt = exchange.accepted;
    this.#settledNonce = exchange.nonceAccepted;
  }

  /**
   * Creates the function for a rejection only, so that a stream without rejections does not store
   * one.
   */
  get #missedBy(): (entries: readonly Entry[]) => readonly MissedReference[] {
    return (entries) => missedBy(this.#state.type, this.#state.host, entries);
  }

  /** Sends the resources of a rejected heartbeat again, since the client does not have them. */
  #sendAgain(nonce: number, error: NackError): void {
    const { lifetimes, owed, host } = this.#state;
    rejectHeartbeat(this.#state, nonce, error);
    for (const { name, resource } of lifetimes?.sent ?? [])
      if (resource?.ttlMs !== undefined && this.#variant.names.isCovered(this.#state, name))
        owed.add(name);
    host.schedule();
  }

  #find(name: string): Entry | undefined {
    const { names } = this.#variant;
    if (!names.isCovered(this.#state, name)) return undefined;
    const entry = names.lookUp(this.#state, name);
    return entry?.resource === undefined
      ? (this.#byAlias(coveringTopic(this.#state, name), name) ?? entry)
      : entry;
  }

  /**
   * Returns the entry that `*` covers under an alias. The topic of `*` finds resources by their
   * names only (S-ALIAS-1).
   */
  #byAlias(topic: Topic | undefined, alias: string): Entry | undefined {
    const { context, typeUrl, unsettled } = this.#state;
    if (topic?.interest.name !== "*" || unsettled.has(topic)) return undefined;
    const [entry] = context.source.topic(typeUrl, { name: alias }).members();
    return entry?.resource === undefined ? undefined : topic.get(entry.name);
  }

  #deliveryOf(topic: Topic, entry: Entry): Delivery {
    return deliveryOf(
      {
        exchange: this.#state.exchange,
        removals: this.#variant.removals.form(this.#state),
        isPending: (of, at) => this.#variant.names.isToBeSent(this.#state, of, at),
      },
      topic,
      entry,
    );
  }

  #watchRepair(): void {
    if (this.inFlight) this.#state.context.repairs.watch(this);
  }

  #fallBehind(): void {
    this.#state.host.end(
      StatusCode.UNAVAILABLE,
      "too far behind: reconnect with the cached versions",
    );
  }
}

function pendingOf({ sent, dirty, owed, exchange }: ServedType): Pending {
  return {
    sent,
    dirty: [...dirty],
    owed: [...owed],
    rejected: startsAgain(exchange) ? exchange.rejected : undefined,
  };
}
