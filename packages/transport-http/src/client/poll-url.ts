import { type Clock, createBackoff, isSameError, type Timer, XdsError } from "@xdstp/core";

import type { FetchLike } from "./fetch-like.ts";
import {
  type Freshness,
  type Read,
  readAnswer,
  readFreshness,
  type Response,
  type UrlAnswer,
} from "./read-answer.ts";
import { listenToEvents, type ReadEvent } from "./listen-to-events.ts";
import type { SeenPositions } from "./seen-positions.ts";
import { withTransportQuery } from "./transport-query.ts";

/** The options of {@link pollUrl}; see `FollowOptions`. */
export interface PollOptions {
  readonly form: string | undefined;
  /** Returns true if the next request may be a long poll, or for events. */
  readonly longPoll: () => boolean;
  /** True: Server-Sent Events in place of long polls. */
  readonly events: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly refreshMs: number;
  readonly answerMs: number;
  readonly answerBytes: number;
  readonly fetch: FetchLike;
  readonly clock: Clock;
  readonly random: () => number;
  /** Called when an answer says that a resource is unchanged. */
  readonly onConfirmed: () => void;
  /** Outlives the requests for one URL, which may be requested again. */
  readonly seen: SeenPositions;
}

/** The requests for one URL. */
export interface UrlPoll {
  /** The newest answer. Absent: there is none yet. */
  readonly answer: UrlAnswer | undefined;
  /** The reason why the last request has failed. Absent: it has not. */
  readonly failure: XdsError | undefined;
  /** Ends the pause before the next request. */
  askNow(): void;
  /** Ends the requests. */
  close(): void;
}

/**
 * The phase of a poll.
 *
 * ```
 * asking ──answer, failure────────► pausing ──time──► asking
 *    │ └──event stream──► listening ──its end──► pausing
 *    └──permanent redirect──► resting
 * ```
 */
type Phase =
  | { readonly kind: "asking"; readonly ended: AbortController }
  | { readonly kind: "listening"; readonly leave: () => void }
  | { readonly kind: "pausing"; readonly timer: Timer }
  | { readonly kind: "resting" };

/** The shortest time from one request to the next, in milliseconds. */
const LEAST_GAP = 100;
/** The longest pause in milliseconds that a server may ask for: a wrong header must not end a poll. */
const LONGEST_RETRY = 300_000;
/** An event stream that lasts as long is in order, so that the next one need not wait longer than usual. */
const LASTED = 10_000;
/** An answer without a change that comes sooner was not held: a cache has stored it. */
const HELD = 1_000;

/**
 * Requests a URL until it is closed: by long polls or an event stream where the server has them,
 * else when the answer before has become too old to use (C-HTTP-11). Calls back when `answer` or `failure` has changed.
 */
export function pollUrl(url: string, options: PollOptions, onChange: () => void): UrlPoll {
  const poll = new Poll(url, options, onChange);
  poll.ask();
  return poll;
}

class Poll implements UrlPoll {
  answer: UrlAnswer | undefined;
  failure: XdsError | undefined;
  readonly #url: string;
  readonly #options: PollOptions;
  readonly #onChange: () => void;
  readonly #backoff: ReturnType<typeof createBackoff>;
  #phase: Phase = { kind: "resting" };
  #redirect: "manual" | "follow" = "manual";
  #known: Freshness | undefined;
  #expiry: Timer | undefined;
  /** The id of the newest event; undefined: the next stream begins with the present state. */
  #lastId: string | undefined;
  /** The reason why the server cannot send the present state as an event. */
  #unsent: XdsError | undefined;
  /** The pause that the event stream asks for, in milliseconds. */
  #retryMs = 0;

  constructor(url: string, options: PollOptions, onChange: () => void) {
    this.#url = url;
    this.#options = options;
    this.#onChange = onChange;
    this.#backoff = createBackoff({}, options.random);
  }

  ask(): void {
    const { clock, answerMs } = this.#options;
    const ended = new AbortController();
    const phase: Phase = { kind: "asking", ended };
    this.#phase = phase;
    const began = clock.now();
    const late = clock.after(answerMs, () => {
      if (this.#phase !== phase) return;
      this.#fail(this.#lost(`no answer within ${answerMs} ms`), 0);
      ended.abort();
    });
    this.#request(ended.signal).then(
      (answer) => {
        late.cancel();
        if (this.#phase !== phase) return;
        if (answer.kind === "events") this.#listen(answer.body, ended);
        else this.#answered(answer.read, answer.freshness, clock.now() - began);
      },
      (error: unknown) => {
        late.cancel();
        if (this.#phase === phase) this.#fail(this.#lost(reasonOf(error)), 0);
      },
    );
  }

  askNow(): void {
    if (this.#phase.kind !== "pausing") return;
    this.#phase.timer.cancel();
    this.ask();
  }

  close(): void {
    const phase = this.#phase;
    this.#phase = { kind: "resting" };
    if (phase.kind === "asking") phase.ended.abort();
    if (phase.kind === "listening") phase.leave();
    if (phase.kind === "pausing") phase.timer.cancel();
    this.#expiry?.cancel();
  }

  async #request(signal: AbortSignal): Promise<Answered> {
    const { form, headers, fetch, answerBytes } = this.#options;
    const { etag } = this.#known ?? {};
    const position = this.#longPollPosition;
    const wantsEvents = this.#options.events && this.#options.longPoll();
    const url = withTransportQuery(this.#url, {
      after: position === undefined ? undefined : versionOf(this.answer),
      at: position,
      form,
    });
    const response = await fetch(url, {
      headers: {
        ...headers,
        ...(wantsEvents && { accept: "text/event-stream" }),
        ...(wantsEvents && this.#lastId !== undefined && { "last-event-id": this.#lastId }),
        // A long poll needs no header of its own, for which a browser would ask permission first.
        ...(position === undefined && etag !== undefined && { "if-none-match": etag }),
      },
      signal,
      redirect: this.#redirect,
    });
    if (wantsEvents && response.body !== null && isEventStream(response))
      return { kind: "events", body: response.body };
    const read = await readAnswer(url, response, answerBytes);
    return { kind: "answer", read, freshness: readFreshness(response) };
  }

  /** The position from which the next request may be a long poll. */
  get #longPollPosition(): string | undefined {
    const { events, longPoll } = this.#options;
    return !events && longPoll() ? this.#known?.position : undefined;
  }

  /** Reads events until the stream is over (B-HTTP-15). */
  #listen(body: ReadableStream<Uint8Array>, ended: AbortController): void {
    const { clock, answerMs, answerBytes, refreshMs, random } = this.#options;
    const began = clock.now();
    const leave = listenToEvents(this.#url, body, {
      clock,
      silentMs: answerMs,
      atMost: answerBytes,
      onEvent: (event) => {
        this.#applyEvent(event);
      },
      onComment: () => {
        // The server sends one while the state is unchanged.
        if (this.answer !== undefined || this.#unsent !== undefined) this.#confirm(false);
      },
      onRetry: (ms) => {
        this.#retryMs = Math.min(ms, LONGEST_RETRY);
      },
      onEnd: (error) => {
        if (clock.now() - began >= LASTED) this.#backoff.reset();
        if (error !== undefined) this.#fail(this.#lost(reasonOf(error)), this.#retryMs);
        else {
          // Not longer than a poll would wait.
          const pauseMs = Math.min(this.#backoff.next(), refreshMs * (1 + random()));
          this.#pause(Math.max(pauseMs, this.#retryMs));
        }
        ended.abort();
      },
    });
    this.#phase = {
      kind: "listening",
      leave: () => {
        leave();
        ended.abort();
      },
    };
  }

  #applyEvent({ id, read }: ReadEvent): void {
    // An id is VERSION@POSITION.
    if (this.#isOlder(id?.split("@").at(-1))) return;
    this.#lastId = id;
    this.#unsent = read.kind === "failure" ? read.error : undefined;
    const isChanged =
      read.kind !== "failure" && !(this.answer !== undefined && isSame(this.answer, read));
    if (isChanged) this.answer = read;
    this.#confirm(isChanged);
  }

  /** Notes that the server has just said what the state is. */
  #confirm(isChanged: boolean): void {
    this.#expire(0);
    const before = this.failure;
    this.failure = this.#unsent;
    if (isChanged || !isSameError(before, this.failure)) this.#onChange();
    if (!isChanged && this.failure === undefined && this.answer?.kind === "found")
      this.#options.onConfirmed();
  }

  #answered(read: Read, freshness: Freshness, tookMs: number): void {
    if (read.kind === "failure") {
      this.#fail(read.error, read.retryMs);
      return;
    }
    this.#backoff.reset();
    if (read.kind === "hidden-redirect") {
      this.#redirect = "follow";
      this.ask();
      return;
    }
    if (read.kind === "unchanged" && this.#known === undefined) {
      // The TTL has expired during the poll, so the content is needed again.
      this.#pause(LEAST_GAP);
      return;
    }
    const wasFailing = this.failure !== undefined;
    this.failure = undefined;
    if (this.#isOlder(freshness.position)) {
      this.#pause(this.#briefMs);
      if (wasFailing) this.#onChange();
      return;
    }
    const isChanged =
      read.kind !== "unchanged" && !(this.answer !== undefined && isSame(this.answer, read));
    if (isChanged) this.answer = read;
    this.#known =
      read.kind === "unchanged"
        ? {
            ...freshness,
            position: freshness.position ?? this.#known?.position,
            etag: freshness.etag ?? this.#known?.etag,
          }
        : freshness;
    this.#expire(freshness.ageMs);
    if (read.kind === "redirect" && read.isPermanent) this.#phase = { kind: "resting" };
    else this.#pause(this.#nextMs(isChanged, tookMs));
    if (isChanged || wasFailing) this.#onChange();
    if (!isChanged && this.answer?.kind === "found") this.#options.onConfirmed();
  }

  /**
   * Returns true for an answer that is older than one before: another cache has stored it, or a
   * cache that cannot reach the server. After a redirect that the platform has followed, answers are
   * those of several names, which have no order.
   */
  #isOlder(position: string | undefined): boolean {
    if (position === undefined || this.#redirect === "follow") return false;
    return !this.#options.seen.note(this.#url, position);
  }

  /** A pause after which a cache may have another answer. */
  get #briefMs(): number {
    return (HELD / 2) * (1 + this.#options.random());
  }

  #nextMs(isChanged: boolean, tookMs: number): number {
    const { random, refreshMs } = this.#options;
    const { maxAgeMs, ageMs = 0 } = this.#known ?? {};
    if (this.#longPollPosition !== undefined) {
      if (isChanged) return Math.max(0, LEAST_GAP - tookMs);
      return tookMs >= HELD ? 0 : this.#briefMs;
    }
    const freshMs = maxAgeMs === undefined ? refreshMs : Math.max(HELD, maxAgeMs - ageMs);
    return freshMs * (1 + random());
  }

  #fail(error: XdsError, retryMs: number): void {
    this.failure = error;
    this.#pause(Math.max(this.#backoff.next(), Math.min(retryMs, LONGEST_RETRY)));
    this.#onChange();
  }

  #pause(ms: number): void {
    const timer = this.#options.clock.after(ms, () => {
      this.ask();
    });
    this.#phase = { kind: "pausing", timer };
  }

  /** Starts the TTL again; a cache has used up a part of it (S-HTTP-6). */
  #expire(ageMs: number): void {
    this.#expiry?.cancel();
    this.#expiry = undefined;
    const { answer } = this;
    if (answer?.kind !== "found" || answer.ttlMs === undefined) return;
    this.#expiry = this.#options.clock.after(Math.max(0, answer.ttlMs - ageMs), () => {
      const text = `GET ${this.#url}: the TTL of ${answer.ttlMs} ms has expired`;
      this.answer = {
        kind: "missing",
        error: new XdsError("NOT_FOUND", text, { rule: "C-HTTP-7" }),
      };
      this.#known = undefined;
      this.#lastId = undefined;
      this.#onChange();
      // A stream that is in order confirms the state in time.
      this.#beginAgain();
    });
  }

  /** Leaves an event stream, so that the next one begins with the present state. */
  #beginAgain(): void {
    const phase = this.#phase;
    if (phase.kind !== "listening") return;
    phase.leave();
    this.#pause(LEAST_GAP);
  }

  #lost(reason: string): XdsError {
    return new XdsError("UNAVAILABLE", `GET ${this.#url}: ${reason}`);
  }
}

type Answered =
  | { readonly kind: "answer"; readonly read: Read; readonly freshness: Freshness }
  | { readonly kind: "events"; readonly body: ReadableStream<Uint8Array> };

function isEventStream({ status, headers }: Response): boolean {
  return status === 200 && /^text\/event-stream\b/i.test(headers.get("content-type") ?? "");
}

/** Returns the version of an answer, as a long poll names it. */
function versionOf(answer: UrlAnswer | undefined): string {
  return answer === undefined || answer.kind === "missing" ? "" : answer.version;
}

function isSame(one: UrlAnswer, other: UrlAnswer): boolean {
  if (one.kind === "missing" || other.kind === "missing") return one.kind === other.kind;
  if (one.version !== other.version) return false;
  return one.kind === "redirect"
    ? other.kind === "redirect" && one.location === other.location
    : other.kind === "found" && one.ttlMs === other.ttlMs && equalBytes(one.body, other.body);
}

function equalBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}

function reasonOf(error: unknown): string {
  const { text, context } = XdsError.from(error);
  const { cause } = error instanceof Error ? error : context;
  return cause instanceof Error ? `${text}: ${cause.message}` : text;
}
