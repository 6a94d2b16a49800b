import type { Entry, NodeInfo, Topic, Watcher } from "@xdstp/core";
import {
  type AcceptedResponse,
  announcesTtl,
  answeredUpTo,
  type Beating,
  type BeatOutcome,
  byName,
  carriesName,
  createExchange,
  createSmallMap,
  createSmallSet,
  type GateState,
  hashBytes,
  hashOf,
  Holds,
  isColdSince,
  isNewestNonce,
  isRepetition,
  isServedBy,
  type Lack,
  lackOf,
  leaveRejected,
  missingIn,
  type NackError,
  noteAnswered,
  parseNonce,
  quirksOf,
  rankOf,
  recordAnswer,
  rejectedFrom,
  rejectHeartbeat,
  releasable,
  type RequestScan,
  type RetryActions,
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
} from "@xdstp/protocol/server";
import type { SotwRequest } from "./decode-request.ts";
import type { Gathered } from "./gathered.ts";
import { gather } from "./gather.ts";
import { currentVersion, isComplete } from "./gather-full-state.ts";
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
import { viewOf } from "./view-of.ts";
import { withoutHeld } from "./without-held.ts";

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

class SotwType implements TypeMachine<SotwRequest>, Watcher, Beating, RetryActions {
  readonly typeUrl: string;
  readonly rank: number;
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
    this.rank = rankOf(context.source, typeUrl);
    this.#profileOf = profileOf;
    this.#state = {
      context,
      host,
      stream,
      typeUrl,
      watcher: this,
      exchange: createExchange(),
      type: context.source.descriptor(typeUrl),
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
      holds: undefined,
      retries: undefined,
      lifetimes: undefined,
      unsaid: undefined,
      impatient: false,
      patience: undefined,
    };
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
  get accepted(): number {
    return this.#state.exchange.accepted;
  }
  get isBehind(): boolean {
    const { exchange, taken, holds } = this.#state;
    return (
      exchange.inFlight !== undefined ||
      exchange.rejected !== undefined ||
      taken !== undefined ||
      holds?.isWaiting === true ||
      this.pending
    );
  }
  get isWaiting(): boolean {
    return this.#state.holds?.isWaiting === true;
  }
  get rejecting(): boolean {
    return this.#state.exchange.rejected !== undefined;
  }
  get rejectedFrom(): number {
    return rejectedFrom(this.#state.exchange, this.#state.holds?.from ?? Infinity);
  }
  get knowsReferences(): boolean {
    return this.#state.type?.references !== undefined;
  }
  get heldFrom(): number {
    return isWithheld(this.#state)
      ? 0
      : this.#state.gone
          .values()
          .reduce((oldest, revision) => Math.min(oldest, revision), Infinity);
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

  drain(removeUpTo: number): void {
    const state = this.#state;
    const { taken } = state;
    state.taken = undefined;
    state.returning = false;
    if (taken !== undefined) state.holds?.openGate();
    const before = state.holds?.waiting;
    const all = taken === undefined ? gather(state, removeUpTo) : taken.gathered;
    const { sendable: gathered, held } = withoutHeld(state, all);
    const updates = this.#fullState
      ? isNews(state, gathered)
      : isPartialNews(state, gathered, held, before);
    this.#repairing = false;
    if (this.#fullState) this.#supersedeRejected(updates || gathered.due);
    if (updates || gathered.due) send(state, gathered);
    else if (state.exchange.inFlight === undefined && state.exchange.rejected === undefined)
      state.exchange.accepted = state.sent;
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
    this.#state.holds?.resetGate();
    if (taken !== undefined) putBack(this.#state, taken);
  }

  releaseHeld(): void {
    const { owed, exchange, context, taken } = this.#state;
    // What a cut has already goes with it: owed as well, it would be sent twice.
    const inCut = taken === undefined ? undefined : byName(taken.gathered.entries);
    for (const name of releasable(this.#state, (held) => this.#newestHeld(held)))
      if (inCut?.has(name) !== true) owed.add(name);
    if (owed.size > 0 && exchange.inFlight !== undefined) context.repairs.watch(this);
  }

  gate(): GateState {
    const holds = (this.#state.holds ??= new Holds(this.#state));
    return holds.gateOf(this.#state.taken?.gathered.entries ?? []);
  }

  noteAccepted(typeUrl: string, response: AcceptedResponse): void {
    const { holds, retries, host } = this.#state;
    holds?.noteAccepted(typeUrl, response);
    retries?.noteAccepted(typeUrl, response);
    if (holds?.isWaiting === true) host.schedule();
  }

  release(removeUpTo: number): void {
    this.drain(removeUpTo);
  }

  covers(name: string): boolean {
    return coverOf(this.#state, name) !== undefined;
  }

  lacks(name: string): Lack | undefined {
    return lackOf(this.#state, this.newest(name));
  }

  existsSince(name: string): number | undefined {
    const entry = this.newest(name);
    return entry?.resource === undefined ? undefined : entry.since;
  }

  carries(name: string): boolean {
    return carriesName(this.#state, name);
  }

  isCold(name: string, since: number): boolean {
    const entry = coverOf(this.#state, name)?.topic.get(name);
    return entry !== undefined && isColdSince(this.#state.type, this.#state.host, entry, since);
  }

  misses(name: string): boolean {
    const cover = coverOf(this.#state, name);
    if (cover === undefined) return isServedBy(this.#state.context.source, name);
    const entry = cover.topic.get(name);
    return entry?.resource === undefined || this.#isOnItsWay(cover.topic, entry);
  }

  #isOnItsWay(topic: Topic, { name, since }: Entry): boolean {
    const { exchange, owed, unanswered } = this.#state;
    return (
      since > exchange.accepted ||
      owed.has(name) ||
      unanswered.has(topic) ||
      (exchange.inFlight !== undefined && byName(exchange.inFlight.entries).has(name))
    );
  }

  /** The newest state of a name that waits. Without full state its removal cannot be sent. */
  #newestHeld(name: string): Entry | undefined {
    const cover = coverOf(this.#state, name);
    if (cover === undefined) return undefined;
    const entry = cover.topic.get(name);
    if (entry?.resource !== undefined) return entry;
    return this.#fullState ? { revision: 0, since: 0, superseded: false, name } : undefined;
  }

  newest(name: string): Entry | undefined {
    return coverOf(this.#state, name)?.topic.get(name);
  }

  /** Rejected resources are sent again: the client has something by now that they refer to (S-ACK-8). */
  retry(names: ReadonlySet<string>): void {
    const { exchange, owed, host } = this.#state;
    for (const name of names) if (coverOf(this.#state, name) !== undefined) owed.add(name);
    if (exchange.rejected !== undefined) exchange.rejected.again = exchange.rejected.retry = true;
    host.schedule();
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
    const { subscriptions, answered, dirty, unsettled, taken, holds, retries } = this.#state;
    return statusOf(this.#state, {
      subscriptions: subscriptions.size,
      wildcard: subscriptionsOf(this.#state, "*").length > 0,
      answered,
      updates: dirty.size > 0 || taken !== undefined,
      unsettled: unsettled.size > 0,
      heldBack: holds?.names() ?? [],
      missing: retries?.missing() ?? [],
    });
  }

  view(): TypeView {
    return viewOf(this.#state);
  }

  close(): void {
    this.#state.retries?.end();
    this.#state.holds?.end();
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
    const { inFlight } = exchange;
    const missing = error === undefined ? [] : missingIn(state, inFlight);
    const settled = recordAnswer(state, nonce, error, state.dirty.size > 0, missing);
    if (!settled) return;
    if (inFlight !== undefined) this.#noteAnswered(inFlight, error);
    if (exchange.rejected === undefined) state.kept = state.shown;
    noteAnswer(state);
  }

  /** What other types wait for, and what is sent again. */
  #noteAnswered(response: AcceptedResponse, error: NackError | undefined): void {
    const state = this.#state;
    const isRejected = error !== undefined || state.exchange.rejected !== undefined;
    noteAnswered(state, response, isRejected, this);
    if (!isRejected) state.host.noteAccepted(this.typeUrl, response);
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
  before: ReadonlySet<string> | undefined,
): boolean {
  const { exchange, profile, dirty } = state;
  const isSaid =
    entries.length + waiting.length > 0 &&
    isRepetition(exchange, rejected, entries, waiting, profile, dirty.size > 0);
  state.unsaid = entries.length === 0 && !isSaid ? rejected : undefined;
  if (isSaid) leaveRejected(state, before, rejected?.entries ?? []);
  return entries.length > 0 && !isSaid;
}

/** What a client understands: what is known of it counts more than what it announces (S-TTL-1). */
function formOf({ quirks }: ServerContext, node: NodeInfo | undefined): ClientForm {
  const { ttl, readsErrors } = quirksOf(quirks, node?.userAgentName ?? "");
  return { wrap: takesWrapped(node), ttl: ttl.sotw ?? announcesTtl(node), errors: readsErrors };
}
