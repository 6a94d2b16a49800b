import { nameKey } from "@xdstp/uri";

import {
  type Committed,
  type Fault,
  type Interest,
  interestKey,
  type ResourceSink,
  XdsError,
} from "@xdstp/core";
import { cutText } from "../text/cut-text.ts";
import { applyEvent, commitAside, type ConcludeSource } from "./apply-event.ts";
import { isCached, isCachedByAll, isWantedCached } from "./cached.ts";
import type { ClassifySource, ResponseVerdict } from "./classification.ts";
import { classifyResponse } from "./classify-response.ts";
import type { ClientContext } from "./client-context.ts";
import type { RejectedName } from "./client-event.ts";
import type { ClientStatus, ClientTypeStatus, WantStatus } from "./client-status.ts";
import {
  concludeDeadline,
  concludeResponse,
  isEmptyTransaction,
  type ResponseTransaction,
  transactionOf,
} from "./conclude.ts";
import { rejectionText } from "./errors.ts";
import { interestFault, responseFault } from "./faults.ts";
import { createFetchDeadlines, type FetchDeadlines } from "./fetch-deadlines.ts";
import { createIdleTimer, type IdleTimer } from "./idle-timer.ts";
import type { ReceivedResponse } from "./received.ts";
import { createRejectionPace, type RejectionPace } from "./rejection-pace.ts";
import type { Answer, ClientVariant, TypeSetup, WantedChanges } from "./variant.ts";
import { isPending, type Wanted } from "./wanted.ts";
import type { WantedIndex } from "./wanted-index.ts";

/** The part of a client that its types use. */
export interface ClientTypeHost<Memory> {
  readonly context: ClientContext;
  readonly variant: ClientVariant<Memory>;
  readonly sink: ResourceSink;
  /**
   * True if the server of the stream is reached: requests are on their way, so the fetch timers run
   * (C-MISS-4).
   */
  readonly isReached: boolean;
  /** Reports that the type has something to send. Its request is sent after the current turn. */
  schedule(): void;
  count(what: keyof ClientStatus["counts"], by: number): void;
  /** Reports that the stream has lasted for as long as a response may take (C-MISS-4). */
  waited(): void;
  /**
   * Calls back with whether the stream is idle. False: a message, or the answer to what was sent,
   * is on its way. Does not call back if the stream ends first.
   */
  whenIdle(callback: (isIdle: boolean) => void): void;
}

/**
 * Called when a response has been consumed. `taken`: settles when the next one may be read
 * (C-ACK-13).
 */
export type Done = (response: ReceivedResponse, taken: Promise<void> | undefined) => void;

/**
 * The phase of a type on its stream.
 *
 * ```text
 * closed --begin--> unsent --request--> listening --response--> committing --committed--> listening
 * unsent, listening --end--> closed
 * committing --end--> outdated --begin--> outdated, with the next stream
 * outdated --committed--> closed; unsent, if the next stream has begun: it begins with what is cached now
 * ```
 */
type Phase<Memory> =
  | { readonly kind: "closed" }
  /** Not in a request of this stream yet: a response of the type is ignored (C-TYPE-7). */
  | { readonly kind: "unsent"; readonly stream: TypeStream<Memory> }
  | { readonly kind: "listening"; readonly stream: TypeStream<Memory> }
  /** The sink is committing a response: nothing is sent before that is answered (C-ACK-13). */
  | { readonly kind: "committing"; readonly stream: TypeStream<Memory> }
  /** The sink is still committing a response of an earlier stream: it is not answered. */
  | { readonly kind: "outdated"; readonly hasNext: boolean };

/**
 * The state of a type on one stream. It is created with each stream, so nothing of an earlier one
 * counts (C-DSUB-8, C-RECON-2).
 */
interface TypeStream<Memory> {
  readonly memory: Memory;
  /** When the stream began, by `Clock.now()`. */
  readonly begunAt: number;
  readonly added: Set<Wanted>;
  readonly dropped: Wanted[];
  readonly repeated: Set<Wanted>;
  /** Answers that are not sent yet; more than one only while they have to wait. */
  readonly answers: Answer[];
  /** The nonce of the last response. */
  nonce: string;
  /** True if the variant has to send another request. */
  hasMore: boolean;
  /** True if an interest has to be requested again on another stream. */
  isSpent: boolean;
}

const CLOSED = { kind: "closed" } as const;

/** One type of a client, across all of its streams. */
export class ClientType<Memory> {
  readonly #host: ClientTypeHost<Memory>;
  readonly #setup: TypeSetup;
  readonly #wants: WantedIndex;
  readonly #source: ClassifySource & ConcludeSource;
  readonly #deadlines: FetchDeadlines;
  readonly #idle: IdleTimer;
  readonly #pace: RejectionPace;
  /** Interests that cannot be requested, by id, with the reason (B-TYPE-5, C-GLOB-10). */
  readonly #invalid = new Map<string, { readonly interest: Interest; readonly error: XdsError }>();
  #phase: Phase<Memory> = CLOSED;
  /** The version of the last accepted response; it is kept when the stream ends (C-VER-6). */
  #version = "";
  /**
   * True if a resource with a TTL has come. The cache may then lack a part of that version
   * (S-RECON-7).
   */
  #expires = false;
  /**
   * True if a part of a rejected response was committed after the last accepted one. The resources
   * are then not those of any version (S-RECON-7).
   */
  #isMixed = false;
  /** Interests that were added after the last accepted response was requested: its version does not cover them. Noted only with `isSilentIfCurrent`, which alone reads it. */
  readonly #uncovered = new Set<Wanted>();
  /** True if the last response was marked as a canary (B-VER-8). */
  #canary = false;

  constructor(host: ClientTypeHost<Memory>, typeUrl: string) {
    const { context, sink, variant } = host;
    const { parts } = variant;
    const { clock, random, fetchMs, quietMs, limits } = context;
    this.#host = host;
    this.#wants = parts.createIndex(typeUrl);
    this.#setup = { typeUrl, type: context.descriptor(typeUrl) };
    const members = parts.collections?.createMemberLimit({ typeUrl, sink }, clock, limits.members);
    const begunAt = (): number => this.#stream?.begunAt ?? 0;
    this.#source = {
      context,
      typeUrl,
      sink,
      parts,
      wants: this.#wants,
      members,
      get confirmsSince() {
        return variant.silenceConfirms ? begunAt() : undefined;
      },
    };
    this.#pace = createRejectionPace(clock, random, () => {
      host.schedule();
    });
    this.#deadlines = createFetchDeadlines(clock, fetchMs, (due) => {
      host.whenIdle((isIdle) => {
        this.#giveUp(due, isIdle);
      });
    });
    // A part of a long answer may take seconds over a slow link, so an idle time alone does not
    // complete a collection (C-GLOB-9).
    this.#idle = createIdleTimer(clock, quietMs, () => {
      host.whenIdle((isIdle) => {
        if (isIdle) parts.collections?.concludeIdle(this.#source, this.#repeats);
        else this.#idle.touch();
      });
    });
  }

  get typeUrl(): string {
    return this.#setup.typeUrl;
  }

  /** True if the type has subscriptions. */
  get isSubscribed(): boolean {
    return this.#wants.size > 0;
  }

  /** True if the type was requested on this stream, so that responses are for it (C-TYPE-7). */
  get isListening(): boolean {
    return this.#phase.kind === "listening";
  }

  /**
   * True if a request can be sent. A type without subscriptions sends no first request, since an
   * empty list would be a wildcard (C-DSUB-11).
   */
  get isDue(): boolean {
    const stream = this.#idleStream;
    if (stream === undefined || this.#pace.waits) return false;
    const { added, dropped, repeated, answers, hasMore } = stream;
    if (answers.length > 0) return true;
    const hasChanges = hasMore || added.size + dropped.length + repeated.size > 0;
    return hasChanges && (this.isListening || this.isSubscribed);
  }

  /** True if something has to be sent on another stream. */
  get needsNewStream(): boolean {
    const stream = this.#idleStream;
    return (
      stream !== undefined &&
      (stream.isSpent ||
        this.#host.variant.needsNewStream(changesOf(stream), this.#wants, stream.memory))
    );
  }

  want(added: readonly Interest[], dropped: readonly Interest[]): void {
    for (const interest of dropped) this.#drop(interest);
    for (const interest of added) this.#add(interest);
    this.#pace.hurry();
    if (this.#phase.kind !== "closed") this.#host.schedule();
  }

  /** Starts the state of a new stream. */
  beginStream(): void {
    if (this.#phase.kind === "outdated") this.#phase = { kind: "outdated", hasNext: true };
    else this.#beginStream();
  }

  /** Starts the fetch timers: the server is reached. */
  startDeadlines(): void {
    this.#deadlines.start([...this.#wants].filter(isPending));
  }

  /** Ends the state of the stream. */
  endStream(): void {
    const { kind } = this.#phase;
    this.#phase =
      kind === "committing" || kind === "outdated" ? { kind: "outdated", hasNext: false } : CLOSED;
    this.#pace.forget();
    this.#deadlines.stop();
    this.#idle.stop();
  }

  /** Returns the next request, without the node. Call it only while `isDue` is true. */
  nextRequest(): Uint8Array {
    const { variant, sink } = this.#host;
    const stream = this.#idleStream;
    if (stream === undefined) throw new Error(`${this.typeUrl} has no stream to send on`);
    const isFirst = !this.isListening;
    const cached = isFirst && variant.silenceConfirms ? [...sink.held(this.typeUrl)] : [];
    for (const { name, resource } of cached)
      this.#wants.linkCached(nameKey(name), resource?.aliases);
    const { bytes, more } = variant.request(
      { ...changesOf(stream), answer: stream.answers.shift(), isFirst, cached },
      this.#wants,
      stream.memory,
    );
    const sent = [...new Set([...stream.added, ...stream.repeated])];
    for (const wanted of sent) applyEvent(this.#source, wanted, { kind: "sent", first: isFirst });
    if (this.#host.isReached) this.#deadlines.start(sent);
    stream.added.clear();
    stream.repeated.clear();
    stream.dropped.length = 0;
    stream.hasMore = more;
    if (isFirst) this.#phase = { kind: "listening", stream };
    return bytes;
  }

  /** Applies a response and queues its answer; then calls `done`, at once or later. */
  respond(message: Uint8Array, done: Done): void {
    if (this.#phase.kind !== "listening") return;
    const { variant, context } = this.#host;
    const { stream } = this.#phase;
    const { typeUrl, type } = this.#setup;
    const { limits } = context;
    const response = variant.read(message, typeUrl, type, (text) =>
      variant.parts.errorText(text, limits.errorText),
    );
    stream.nonce = response.nonce;
    this.#canary = response.canary;
    const fault = responseFault(response, limits);
    if (fault !== undefined) {
      this.#reject(stream, response, [], fault);
      done(response, undefined);
      return;
    }
    const verdicts = classifyResponse(this.#source, response, (draft) => {
      variant.absence?.(this.#source, draft, response, stream.memory);
    });
    const transaction = transactionOf(typeUrl, verdicts);
    this.#phase = { kind: "committing", stream };
    this.#commit(transaction, (committed) => {
      const isOutdated = this.#phase.kind === "outdated";
      const hasNext = this.#phase.kind === "outdated" && this.#phase.hasNext;
      this.#phase = isOutdated ? CLOSED : { kind: "listening", stream };
      const isGrowing =
        committed instanceof XdsError
          ? this.#reject(stream, response, [], {
              text: committed.text,
              rule: committed.context.rule,
            })
          : this.#conclude(stream, response, verdicts, transaction, committed);
      if (isOutdated) {
        // A nonce of an earlier stream has no meaning on the next one (B-NONCE-2).
        this.#pace.forget();
        if (hasNext) this.#beginStream();
      } else if (isGrowing && this.#idleStream === stream) this.#idle.touch();
      done(response, committed instanceof XdsError ? undefined : committed.taken);
    });
  }

  /**
   * Reports the errors of single names again: when the end of an outage is reported, the sink also
   * drops the errors of parts.
   */
  reportErrors(): void {
    const { sink } = this.#host;
    const { typeUrl } = this;
    for (const { interest, state } of this.#wants)
      if (state.known.error !== undefined)
        sink.unavailable({ typeUrl, interest }, state.known.error);
    for (const { interest, error } of this.#invalid.values())
      sink.unavailable({ typeUrl, interest }, error);
  }

  status(): ClientTypeStatus {
    return {
      typeUrl: this.typeUrl,
      version: this.#version,
      nonce: this.#stream?.nonce ?? "",
      canary: this.#canary,
      wants: [...this.#wants].map((wanted) => this.#statusOf(wanted)),
    };
  }

  /** Returns the status of an interest. A resource that was cached may have expired (C-TTL-4). */
  #statusOf(wanted: Wanted): WantStatus {
    const { interest, kind, state } = wanted;
    const { known, rejections } = state;
    const { clock } = this.#host.context;
    const isExpired =
      known.kind === "cached" && kind === "name" && !isWantedCached(this.#source, wanted);
    return {
      interest,
      state: isExpired ? "missing" : known.kind,
      at: known.at,
      rejected: Array.from(rejections.values(), ({ moment, ...rejection }) => ({
        ...rejection,
        at: clock.wallTime() - (clock.now() - moment),
      })),
      ...(known.error === undefined ? {} : { error: known.error }),
    };
  }

  get #stream(): TypeStream<Memory> | undefined {
    return "stream" in this.#phase ? this.#phase.stream : undefined;
  }

  /** The stream. undefined: there is none, or a response is being committed. */
  get #idleStream(): TypeStream<Memory> | undefined {
    return this.#phase.kind === "committing" ? undefined : this.#stream;
  }

  #beginStream(): void {
    const { variant, context } = this.#host;
    for (const wanted of this.#wants) applyEvent(this.#source, wanted, { kind: "stream-began" });
    const all = new Set(this.#wants);
    const mayBeSilent =
      context.isSilentIfCurrent || all.values().some(({ kind }) => kind !== "name");
    const isPart = this.#expires || this.#isMixed;
    const isOlder = this.#uncovered.size > 0;
    const version = (mayBeSilent && isPart) || isOlder ? "" : this.#version;
    this.#phase = {
      kind: "unsent",
      stream: {
        memory: variant.begin(this.#setup, this.#wants, version),
        begunAt: context.clock.now(),
        added: all,
        dropped: [],
        repeated: new Set(),
        answers: [],
        nonce: "",
        hasMore: false,
        isSpent: false,
      },
    };
  }

  #add(interest: Interest): void {
    const { typeUrl, type } = this.#setup;
    const fault = interestFault(interest, typeUrl) ?? this.#host.variant.faultOf(interest, type);
    if (fault !== undefined) {
      this.#noteInvalid(interest, fault);
      return;
    }
    const wanted = this.#wants.add(interest);
    if (wanted === undefined) return;
    if (this.#host.context.isSilentIfCurrent) this.#uncovered.add(wanted);
    this.#stream?.added.add(wanted);
  }

  #drop(interest: Interest): void {
    const wanted = this.#wants.remove(interest);
    if (wanted === undefined) {
      this.#forgetInvalid(interest);
      return;
    }
    this.#uncovered.delete(wanted);
    const stream = this.#stream;
    stream?.added.delete(wanted);
    stream?.repeated.delete(wanted);
    if (wanted.state.request.kind !== "unsent") stream?.dropped.push(wanted);
    applyEvent(this.#source, wanted, { kind: "dropped" });
    this.#removeOrphans();
  }

  /**
   * Removes each resource that only a removed alias still covers, once its own name has no
   * subscribers either (C-ALIAS-3). The last of them may unsubscribe before the alias is removed,
   * or after it.
   */
  #removeOrphans(): void {
    const { typeUrl } = this;
    const remove = this.#wants
      .takeOrphans()
      .filter((name) => isCached(this.#source, { name }))
      .map((name) => ({ typeUrl, name }));
    if (remove.length > 0) commitAside(this.#host.sink, { remove });
  }

  /** Reports the error of an interest that cannot be requested, for as long as it is subscribed. */
  #noteInvalid(interest: Interest, { text, rule }: Fault): void {
    const { typeUrl } = this;
    const error = new XdsError("INVALID_ARGUMENT", text, {
      typeUrl,
      resource: interest.name,
      rule,
    });
    this.#invalid.set(idOf(interest), { interest, error });
    this.#host.sink.unavailable({ typeUrl, interest }, error);
  }

  #forgetInvalid(interest: Interest): void {
    const { typeUrl } = this;
    if (this.#invalid.delete(idOf(interest)))
      this.#host.sink.unavailable({ typeUrl, interest }, undefined);
  }

  /**
   * Requests an interest again of which nothing has come: the server may believe that the client
   * has it. Returns true if it is requested again, so that nothing is concluded yet.
   */
  readonly #repeats = (wanted: Wanted, isOfOther: boolean): boolean => {
    const stream = this.#stream;
    if (stream === undefined || (!isOfOther && isCachedByAll(this.#source, wanted))) return false;
    const how = this.#host.variant.repeat(wanted, stream.memory);
    if (how === "not-needed") return false;
    if (how === "new-stream") stream.isSpent = true;
    else stream.repeated.add(wanted);
    this.#host.schedule();
    return true;
  };

  /**
   * Concludes from interests that have not come in time. A collection of which a part is on its way
   * gets more time: a relay would serve that part as the whole (C-MISS-4).
   */
  #giveUp(due: readonly Wanted[], isIdle: boolean): void {
    const late = due.filter(isPending);
    const silent = isIdle ? late : late.filter(({ kind }) => kind === "name");
    if (!isIdle) this.#deadlines.start(late.filter(({ kind }) => kind !== "name"));
    if (silent.length > 0)
      this.#deadlines.start(
        concludeDeadline(this.#source, silent, this.#repeats, this.#source.parts.collections),
      );
    this.#host.waited();
  }

  #commit(transaction: ResponseTransaction, then: (committed: Committed | XdsError) => void): void {
    if (isEmptyTransaction(transaction)) {
      then({ revision: 0 });
      return;
    }
    try {
      const { decided, ...committed } = this.#host.sink.commit(transaction);
      if (decided === undefined) then(committed);
      else
        decided.then(then, (error: unknown) => {
          then(XdsError.from(error));
        });
    } catch (error) {
      then(XdsError.from(error));
    }
  }

  /**
   * Concludes from a response whose valid part has been committed. Returns true if a collection is
   * still growing.
   */
  #conclude(
    stream: TypeStream<Memory>,
    response: ReceivedResponse,
    verdicts: readonly ResponseVerdict[],
    { put, remove }: ResponseTransaction,
    { rejected: bySink = [] }: Committed,
  ): boolean {
    const host = this.#host;
    const { typeUrl } = this;
    const invalid = verdicts.flatMap((verdict) => (verdict.kind === "rejected" ? [verdict] : []));
    const rejected = [...invalid, ...bySink].map(({ name, error }) => ({ name, error }));
    const { isGrowing, lost } = concludeResponse(this.#source, response, verdicts, rejected);
    for (const wanted of lost)
      if (wanted.state.request.kind !== "dropped") stream.repeated.add(wanted);
    if (remove.length > 0) this.#removeOrphans();
    this.#expires ||= put.some(({ resource }) => resource.expireMs !== undefined);
    const ignored = countOf(verdicts, "ignored");
    const unnamed = countOf(verdicts, "rejected-unnamed");
    const taken = put.length - bySink.length;
    host.count("validResources", taken);
    host.count("ignored", ignored);
    host.count("invalidResources", unnamed);
    if (ignored > 0) host.context.emit?.({ kind: "ignored", typeUrl, names: ignored });
    if (rejected.length > 0) {
      this.#isMixed ||= taken + remove.length > 0;
      const text = rejectionText(rejected, host.context.limits.errorText);
      this.#reject(stream, response, rejected, { text }, { taken, unnamed });
    } else this.#accept(stream, response, put.length, remove.length);
    return isGrowing;
  }

  #accept(
    stream: TypeStream<Memory>,
    { typeUrl, nonce, version }: ReceivedResponse,
    resources: number,
    removed: number,
  ): void {
    this.#version = version;
    this.#isMixed = false;
    for (const wanted of this.#uncovered)
      if (wanted.state.request.kind !== "unsent") this.#uncovered.delete(wanted);
    this.#answer(stream, { nonce, version });
    this.#pace.forget();
    const { emit } = this.#host.context;
    emit?.({ kind: "accepted", typeUrl, nonce, version, resources, removed });
  }

  /**
   * Queues a NACK (C-ACK-3, C-ACK-4) with the version of the last accepted response. Without names,
   * the response as a whole is rejected. Returns false: no collection is growing.
   */
  #reject(
    stream: TypeStream<Memory>,
    response: ReceivedResponse,
    names: readonly RejectedName[],
    { text, rule }: Fault,
    next?: { readonly taken: number; readonly unnamed: number },
  ): false {
    const { typeUrl, nonce, version, resources } = response;
    const { context } = this.#host;
    const reason = cutText(text, context.limits.errorText);
    this.#host.count("rejected", 1);
    this.#host.count("invalidResources", names.length);
    this.#answer(stream, { nonce, version: this.#version, error: reason });
    this.#pace.rejected(fingerprint(response, names, reason));
    const parts = { typeUrl, nonce, version, resources: resources.length, names };
    context.emit?.({ kind: "rejected", ...parts, ...next, reason, rule });
    return false;
  }

  /**
   * Queues the answer to a response (C-ACK-1). If a server sends and does not read, the oldest ACKs
   * are dropped: a newer one implies them.
   */
  #answer({ answers }: TypeStream<Memory>, next: Answer): void {
    answers.push(next);
    if (answers.length <= this.#host.context.limits.waitingAnswers) return;
    const oldest = answers.findIndex(({ error }) => error === undefined);
    answers.splice(Math.max(0, oldest), 1);
  }
}

function idOf(interest: Interest): string {
  return interestKey(interest, nameKey(interest.name));
}

function changesOf<Memory>({ added, dropped, repeated }: TypeStream<Memory>): WantedChanges {
  return { added, dropped, repeated };
}

function countOf(verdicts: readonly ResponseVerdict[], kind: ResponseVerdict["kind"]): number {
  let count = 0;
  for (const verdict of verdicts) if (verdict.kind === kind) count++;
  return count;
}

/**
 * Returns a text that is equal if a server repeats a rejected response (C-ACK-20). It is cut, since
 * it is stored.
 */
function fingerprint(
  { version, resources }: ReceivedResponse,
  names: readonly RejectedName[],
  reason: string,
): string {
  const bad = new Set(names.map(({ name }) => name));
  return JSON.stringify([
    reason,
    version,
    ...resources.flatMap((resource) => (bad.has(resource.name) ? [resource.version] : [])),
  ]).slice(0, 10_000);
}
