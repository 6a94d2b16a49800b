import type { Entry, NodeInfo, Topic, Watcher } from "@xdstp/core";
import {
  announcesTtl,
  answeredUpTo,
  type Beating,
  type BeatOutcome,
  createExchange,
  createSmallMap,
  createSmallSet,
  hashBytes,
  hashOf,
  releaseHolds,
  removedName,
  type RemovedName,
  retryRejected,
  type Holds,
  heldBackFrom,
  heldBackOf,
  isColdSince,
  isNewestNonce,
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
  sayTheSame,
  type ServerContext,
  settledBy,
  statusOf,
  type StreamInfo,
  takesWrapped,
  type TypeHost,
  type TypeMachine,
  type TypeStatus,
  type TypeView,
  isObsolete,
  waitsAsWhole,
} from "@xdstp/protocol/server";
import type { SotwRequest } from "./decode-request.ts";
import type { Gathered } from "./gathered.ts";
import { gather } from "./gather.ts";
import { currentVersion, heldBaseOf, isComplete } from "./gather-full-state.ts";
import { beat, haveEqualTtls, noteAnswer, noteHolding, resume } from "./heartbeat.ts";
import { isWithheld } from "./is-withheld.ts";
import { hashWanted } from "./hash-list.ts";
import { coverOf, keyOf, subscriptionsOf } from "./lookup.ts";
import { send } from "./send.ts";
import type { ClientForm, ProfileOf } from "./profile-of.ts";
import type { SotwState } from "./sotw-state.ts";
import { narrow, subscribe } from "./subscribe.ts";
import { endStay } from "./stay.ts";
import { putBack, take } from "./take.ts";
import { hasNewErrors } from "./told-errors.ts";
import { unsubscribe } from "./unsubscribe.ts";
import { awaits, hasAccepted, viewOf } from "./view-of.ts";
import { mustShow, withoutHolds } from "./without-holds.ts";

/** One type on one SotW stream. */
export function createSotwType(
  context: ServerContext,
  host: TypeHost,
  typeUrl: string,
  stream: StreamInfo,
  profileOf: ProfileOf,
): TypeMachine<SotwRequest> {
  return new SotwType(context, host, typeUrl, stream, profileOf);
}

const NOTHING: ReadonlyMap<string, never> = new Map<string, never>();

class SotwType implements TypeMachine<SotwRequest>, Watcher, Beating {
  readonly typeUrl: string;
  repairQueued = false;
  readonly #state: SotwState;
  readonly #profileOf: ProfileOf;
  #first = true;
  #repairing = false;

  constructor(
    context: ServerContext,
    host: TypeHost,
    typeUrl: string,
    stream: StreamInfo,
    profileOf: ProfileOf,
  ) {
    this.typeUrl = typeUrl;
    this.#profileOf = profileOf;
    this.#state = {
      context,
      host,
      stream,
      typeUrl,
      watcher: this,
      exchange: createExchange(),
      type: context.source.descriptor(typeUrl),
      rank: rankOf(context.source, typeUrl),
      quirks: quirksOf(context.quirks, host.node?.userAgentName ?? ""),
      profile: profileOf(typeUrl, formOf(context, host.node)),
      subscriptions: createSmallMap(),
      located: undefined,
      legacy: true,
      listHash: undefined,
      wantedHash: undefined,
      sent: 0,
      returning: false,
      answered: false,
      unsettled: createSmallSet(),
      unanswered: createSmallSet(),
      unaccepted: createSmallSet(),
      dirty: createSmallSet(),
      owed: createSmallSet(),
      sum: 0,
      nameLength: 0,
      shown: [],
      kept: [],
      gone: NOTHING,
      stay: NOTHING,
      parting: undefined,
      taken: undefined,
      heldBack: NO_HOLDS,
      lifetimes: undefined,
      unsaid: undefined,
      impatient: false,
      patience: undefined,
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
    const { entries, due } = taken.gathered;
    return waitsAsWhole(this.#state, entries, {
      mustShow: ({ name }) => mustShow(this.#state, name),
      isNeverEmpty: this.#fullState ? !answered : due,
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
    return isWithheld(this.#state)
      ? 0
      : this.#state.gone
          .values()
          .reduce((oldest, { revision }) => Math.min(oldest, revision), Infinity);
  }
  get heldBase(): number {
    return isWithheld(this.#state) ? -1 : heldBaseOf(this.#state);
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
    const updates =
      dirty.size > 0 || unanswered.size > 0 || owed.size > 0 || exchange.rejected?.again === true;
    return updates && (!this.#fullState || (isComplete(this.#state) && !isWithheld(this.#state)));
  }

  get #fullState(): boolean {
    return this.#state.type?.fullStateInSotw === true;
  }

  request(request: SotwRequest): void {
    const first = this.#first;
    this.#first = false;
    if (!first && this.#isStale(request)) return;
    const wanted = hashWanted(request);
    if (wanted !== this.#state.wantedHash) this.#state.host.thaw();
    if (request.usesLocators)
      this.#state.profile = this.#profileOf(this.typeUrl, {
        ...formOf(this.#state.context, this.#state.host.node),
        wrap: true,
      });
    if (!first && request.nonce === "" && this.#state.exchange.nonceSent > 0) this.#startAgain();
    subscribe(this.#state, request);
    this.#state.wantedHash = wanted;
    this.#state.listHash = request.located.length === 0 ? wanted : undefined;
    this.#waitAtMost(request);
    if (first) this.#begin(request);
    else if (request.nonce !== "") this.#answer(parseNonce(request.nonce), request.error);
  }

  plainAck(scan: RequestScan, message: Uint8Array): boolean {
    const { exchange, listHash, lifetimes } = this.#state;
    if (this.#first || exchange.nonceSent === 0 || !isNewestNonce(lifetimes, exchange, scan.nonce))
      return false;
    if (hashBytes(message, scan.namesStart, scan.namesEnd) !== listHash) return false;
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
    const state = this.#state;
    const { taken } = state;
    state.taken = undefined;
    const { heldBack: before } = state;
    const all = taken?.gathered ?? gather(state, removeUpTo);
    const gathered = withoutHolds(state, all, isLimited);
    state.returning = false;
    const updates = this.#fullState
      ? isNews(state, gathered)
      : isPartialNews(
          state,
          gathered,
          heldBackOf(all.entries, gathered.entries, state.heldBack),
          before,
        );
    this.#repairing = false;
    if (this.#fullState) this.#supersedeRejected(updates || gathered.due);
    if (updates || gathered.due) send(state, gathered);
    else noteNothingSent(this.#state);
    if (state.answered) this.#calm();
    noteHolding(state, gathered.entries, taken?.holding);
  }

  beat(ttlMs: number): BeatOutcome {
    return beat(this.#state, ttlMs);
  }

  take(removeUpTo: number): void {
    this.#state.taken = take(this.#state, removeUpTo);
  }

  putBack(): void {
    const { taken } = this.#state;
    this.#state.taken = undefined;
    if (taken !== undefined) putBack(this.#state, taken);
  }

  releaseHolds(): void {
    const ready = releaseHolds(this.#state, (name) => newestOf(this.#state, name));
    const { owed, exchange } = this.#state;
    for (const name of ready) owed.add(name);
    if (ready.length > 0 && exchange.rejected !== undefined) exchange.rejected.again = true;
  }

  release(removeUpTo: number): void {
    this.drain(removeUpTo);
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
    const entry = coverOf(this.#state, name)?.topic.get(name);
    return entry !== undefined && isRejectedAndNew(this.#state.exchange, entry);
  }

  removed(name: string, at: number): RemovedName {
    return removedName(this.#state, coverOf(this.#state, name)?.topic, name, at);
  }

  awaits(name: string): boolean {
    return awaits(this.#state, name);
  }

  isCold(name: string): boolean {
    const { type, host } = this.#state;
    const entry = coverOf(this.#state, name)?.topic.get(name);
    // A state that is withheld waits for those who refer to it, so they do not wait for it.
    return (
      entry !== undefined &&
      !isWithheld(this.#state) &&
      isColdSince(type, host, entry, longAccepted(this.#state))
    );
  }

  misses(name: string): boolean {
    const cover = coverOf(this.#state, name);
    return cover === undefined
      ? isServedBy(this.#state.context.source, name)
      : cover.topic.get(name)?.resource === undefined;
  }

  /** A full state replaces all that was rejected; one that goes nowhere leaves it as it was (S-ACK-8). */
  #supersedeRejected(isSent: boolean): void {
    const { exchange } = this.#state;
    if (isSent) exchange.rejected = undefined;
    else if (exchange.rejected !== undefined) exchange.rejected.again = false;
  }

  warm(name: string): void {
    const { unsettled, unanswered, owed, taken } = this.#state;
    const key = keyOf(name);
    if (taken?.gathered.entries.some((entry) => keyOf(entry.name) === key) === true) return; // it goes after what it is sent for
    const cover = coverOf(this.#state, name);
    if (cover !== undefined && !unsettled.has(cover.topic) && !unanswered.has(cover.topic))
      owed.add(name);
    if (this.#state.exchange.inFlight !== undefined) this.#state.context.repairs.watch(this);
  }

  get subscriptions(): number {
    return this.#state.subscriptions.size;
  }
  get nameLength(): number {
    return this.#state.nameLength;
  }

  status(): TypeStatus {
    const { subscriptions, answered, dirty, unsettled, taken, heldBack } = this.#state;
    return statusOf(this.#state, {
      subscriptions: subscriptions.size,
      wildcard: subscriptionsOf(this.#state, "*").length > 0,
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
    this.#calm();
    endStay(this.#state);
    if (this.#state.lifetimes !== undefined) this.#state.context.heartbeats.drop(this);
    for (const { topic } of this.#state.subscriptions.values()) topic.unwatch(this);
    this.#state.subscriptions.clear();
  }

  /** The first request of a type is answered whatever nonce it bears (S-NONCE-5), unless it is a pure wildcard that holds everything (S-RECON-7). */
  #begin({ version }: SotwRequest): void {
    const state = this.#state;
    state.returning = version !== "";
    const wildcard =
      state.subscriptions.size === 1 ? subscriptionsOf(state, "*")[0]?.topic : undefined;
    if (
      version !== "" &&
      wildcard?.settled === true &&
      currentVersion([wildcard], wildcard.members()) === version
    )
      this.#adopt(wildcard, version);
  }

  #adopt(wildcard: Topic, version: string): void {
    const state = this.#state;
    state.unanswered.clear();
    state.unaccepted.clear();
    state.answered = true;
    state.returning = false;
    state.sent = state.exchange.accepted = state.context.source.revision;
    state.exchange.versionSent = state.exchange.versionAccepted = version;
    state.shown = state.kept = wildcard.members();
    resume(state, wildcard.members());
  }

  /** A client that holds nothing is not kept waiting for ever (S-STREAM-9). */
  #waitAtMost({ version }: SotwRequest): void {
    const state = this.#state;
    if (
      !this.#fullState ||
      version !== "" ||
      state.answered ||
      state.patience !== undefined ||
      state.unsettled.size === 0
    )
      return;
    state.patience = state.context.clock.after(state.context.limits.settleMs, () => {
      state.impatient = true;
      state.host.schedule();
    });
  }

  #calm(): void {
    this.#state.patience?.cancel();
    this.#state.patience = undefined;
  }

  /** A request that crossed a response gets no answer; its list comes again with the ACK (S-NONCE-6, S-NONCE-7). What it drops and rejects is noted. */
  #isStale(request: SotwRequest): boolean {
    const { nonce, error } = request;
    const { exchange, lifetimes } = this.#state;
    const stale =
      nonce === ""
        ? exchange.inFlight !== undefined
        : !isNewestNonce(lifetimes, exchange, parseNonce(nonce));
    if (!stale) return false;
    narrow(this.#state, request);
    this.#answer(parseNonce(nonce), error);
    return true;
  }

  /** The client has lost its state of the type: it is owed everything (S-NONCE-7). */
  #startAgain(): void {
    for (const key of [...this.#state.subscriptions.keys()]) unsubscribe(this.#state, key);
  }

  /** An error under a nonce that has been answered is not a new NACK (S-ACK-19). */
  #answer(given: number, error: NackError | undefined): void {
    const state = this.#state;
    const { exchange, lifetimes } = state;
    const nonce = settledBy(lifetimes, exchange, given);
    if (nonce === 0) {
      if (error !== undefined) this.#sendAnew(given, error);
      return;
    }
    if (error !== undefined || exchange.inFlight?.rejection !== undefined) state.host.thaw();
    const missed = error && this.#missedBy;
    if (!recordAnswer(state, nonce, error, state.dirty.size > 0, missed)) return;
    if (exchange.rejected === undefined) {
      state.kept = state.shown;
      noteAccepted(this.#state);
    }
    noteAnswer(state);
  }

  /** Made for a rejection only: a stream that rejects nothing keeps no function for it. */
  get #missedBy(): (entries: readonly Entry[]) => readonly MissedReference[] {
    return (entries) => missedBy(this.#state.type, this.#state.host, entries);
  }

  /** A client that rejects a heartbeat does not hold what it stands for. */
  #sendAnew(nonce: number, error: NackError): void {
    rejectHeartbeat(this.#state, nonce, error);
    for (const { name, resource } of this.#state.lifetimes?.sent ?? [])
      if (resource?.ttlMs !== undefined && coverOf(this.#state, name) !== undefined)
        this.#state.owed.add(name);
    this.#state.host.schedule();
  }

  #settle(topic: Topic): void {
    const { unsettled, unanswered } = this.#state;
    if (!topic.settled) return;
    unsettled.delete(topic);
    unanswered.add(topic);
  }
}

/** What was rejected is not said again under another version (S-ACK-8). An author's label may stay the same over a change: then the content decides; and what a TTL is has no part in a version (S-TTL-7). */
function isNews({ exchange, shown, profile }: SotwState, { version, entries }: Gathered): boolean {
  if (exchange.rejected?.isRetry === true) return true;
  if (exchange.rejected !== undefined && sayTheSame(shown, entries, profile)) return false;
  if (version !== exchange.versionSent) return true;
  return (
    entries !== shown &&
    (hasNewErrors(entries, shown) ||
      hashOf(entries) !== hashOf(shown) ||
      (profile.heartbeat !== undefined && !haveEqualTtls(entries, shown)))
  );
}

/** The same of what has come or changed. Here nothing is said of what goes, so that what was rejected may come back before the client has been told anything else. */
function isPartialNews(
  state: SotwState,
  { entries, rejected = state.unsaid }: Gathered,
  waiting: readonly Entry[],
  before: SotwState["heldBack"],
): boolean {
  const { exchange, profile, dirty } = state;
  const isSaid =
    entries.length + waiting.length > 0 &&
    isRepetition(exchange, rejected, entries, waiting, profile, dirty.size > 0);
  state.unsaid = entries.length === 0 && !isSaid ? rejected : undefined;
  if (isSaid) leaveRejected(state, before, rejected?.entries ?? []);
  return entries.length > 0 && !isSaid;
}

/** The present state of a name. undefined: it is not wanted, or the client is not told of its removal. */
function newestOf(state: SotwState, name: string): Entry | "removed" | undefined {
  const cover = coverOf(state, name);
  const entry = cover?.topic.get(name);
  if (cover === undefined || entry?.resource !== undefined) return entry;
  return state.type?.fullStateInSotw === true ? "removed" : undefined;
}

/** What a client understands: what is known of it counts more than what it announces (S-TTL-1). */
function formOf({ quirks }: ServerContext, node: NodeInfo | undefined): ClientForm {
  const { ttl, readsErrors } = quirksOf(quirks, node?.userAgentName ?? "");
  return { wrap: takesWrapped(node), ttl: ttl.sotw ?? announcesTtl(node), errors: readsErrors };
}
