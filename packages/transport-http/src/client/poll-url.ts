import { type Clock, createBackoff, type Timer, XdsError } from "@xdstp/core";

import type { FetchLike } from "./fetch-like.ts";
import {
  type Freshness,
  type Read,
  readAnswer,
  readFreshness,
  type UrlAnswer,
} from "./read-answer.ts";
import type { SeenPositions } from "./seen-positions.ts";
import { withTransportQuery } from "./transport-query.ts";

/** The options of {@link pollUrl}; see `FollowOptions`. */
export interface PollOptions {
  readonly form: string | undefined;
  /** Returns true if the next request may be a long poll. */
  readonly longPoll: () => boolean;
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
 * asking ──answer, failure──► pausing ──time──► asking
 *    └──permanent redirect──► resting
 * ```
 */
type Phase =
  | { readonly kind: "asking"; readonly ended: AbortController }
  | { readonly kind: "pausing"; readonly timer: Timer }
  | { readonly kind: "resting" };

/** The shortest time from one request to the next, in milliseconds. */
const LEAST_GAP = 100;
/** The longest pause in milliseconds that a server may ask for: a wrong header must not end a poll. */
const LONGEST_RETRY = 300_000;
/** An answer without a change that comes sooner was not held: a cache has stored it. */
const HELD = 1_000;

/**
 * Requests a URL until it is closed: by long polls where the server has them, else when the answer
 * before has become too old to use (C-HTTP-11). Calls back when `answer` or `failure` has changed.
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
      ({ read, freshness }) => {
        late.cancel();
        if (this.#phase === phase) this.#answered(read, freshness, clock.now() - began);
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
    if (phase.kind === "pausing") phase.timer.cancel();
    this.#expiry?.cancel();
  }

  async #request(
    signal: AbortSignal,
  ): Promise<{ readonly read: Read; readonly freshness: Freshness }> {
    const { form, headers, fetch, answerBytes } = this.#options;
    const { etag } = this.#known ?? {};
    const position = this.#longPollPosition;
    const url = withTransportQuery(this.#url, {
      after: position === undefined ? undefined : versionOf(this.answer),
      at: position,
      form,
    });
    const response = await fetch(url, {
      // A long poll needs no header of its own, for which a browser would ask permission first.
      headers:
        position !== undefined || etag === undefined
          ? headers
          : { ...headers, "if-none-match": etag },
      signal,
      redirect: this.#redirect,
    });
    const read = await readAnswer(url, response, answerBytes);
    return { read, freshness: readFreshness(response) };
  }

  /** The position from which the next request may be a long poll. */
  get #longPollPosition(): string | undefined {
    return this.#options.longPoll() ? this.#known?.position : undefined;
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
    if (this.#isOlder(freshness)) {
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
  #isOlder({ position }: Freshness): boolean {
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
      this.#onChange();
    });
  }

  #lost(reason: string): XdsError {
    return new XdsError("UNAVAILABLE", `GET ${this.#url}: ${reason}`);
  }
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
