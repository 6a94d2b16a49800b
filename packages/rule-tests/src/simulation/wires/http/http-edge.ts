import type { Clock } from "@xdstp/core";

import type { Weather } from "../weather.ts";
import type { HttpOrigin, OriginAnswer } from "./http-origin.ts";

/** An answer of a shared cache. */
export interface EdgeAnswer extends OriginAnswer {
  /** Seconds since the origin has given it. */
  readonly age: number;
}

/** A request of a client. */
export interface EdgeRequest {
  readonly id: string;
  readonly target: string;
  readonly ifNoneMatch: string | undefined;
}

interface Stored {
  readonly answer: OriginAnswer;
  readonly at: number;
}

const BAD_GATEWAY: EdgeAnswer = {
  status: 502,
  headers: {},
  body: undefined,
  said: { seq: 0, text: undefined, life: "a cache" },
  age: 0,
};

/** The time in milliseconds after which a cache gives up a request to the origin. */
const ORIGIN_MS = 60_000;

/**
 * A shared cache, as RFC 9111 describes it: it stores each answer for its `max-age`, validates it afterwards, and uses it for `stale-if-error` while the origin fails.
 * Some caches let equal requests wait for one of them.
 */
export class HttpEdge {
  readonly #clock: Clock;
  readonly #weather: Weather;
  readonly #origin: HttpOrigin;
  readonly #joins: boolean;
  readonly #stored = new Map<string, Stored>();
  readonly #asked = new Map<string, Promise<Stored | undefined>>();
  #cutOffUntil = -Infinity;

  constructor(
    clock: Clock,
    options: { readonly weather: Weather; readonly origin: HttpOrigin; readonly joins: boolean },
  ) {
    this.#clock = clock;
    this.#weather = options.weather;
    this.#origin = options.origin;
    this.#joins = options.joins;
  }

  /** The cache cannot reach the origin for this time. */
  cutOff(ms: number): void {
    this.#cutOffUntil = this.#clock.now() + ms;
  }

  calm(): void {
    this.#cutOffUntil = -Infinity;
  }

  /** Forgets all answers, as a cache does whose memory is full. */
  purge(): void {
    this.#stored.clear();
  }

  async get(request: EdgeRequest): Promise<EdgeAnswer> {
    const known = this.#stored.get(request.target);
    if (known !== undefined && this.#ageMs(known) < 1_000 * directive(known, "max-age"))
      return this.#serve(known, request);
    const fresh = await this.#fetch(request);
    const old = this.#stored.get(request.target);
    const isFailure = fresh === undefined || fresh.answer.status >= 500;
    if (isFailure && old !== undefined && this.#isUsableOnError(old))
      return this.#serve(old, request);
    return fresh === undefined ? BAD_GATEWAY : this.#serve(fresh, request);
  }

  #serve(stored: Stored, { ifNoneMatch }: EdgeRequest): EdgeAnswer {
    const { answer } = stored;
    const age = Math.floor(this.#ageMs(stored) / 1_000);
    const isKnown = answer.status === 200 && ifNoneMatch === answer.headers.etag;
    return isKnown ? { ...answer, status: 304, body: undefined, age } : { ...answer, age };
  }

  #isUsableOnError(stored: Stored): boolean {
    return this.#ageMs(stored) < 1_000 * directive(stored, "stale-if-error");
  }

  async #fetch(request: EdgeRequest): Promise<Stored | undefined> {
    const asked = this.#joins ? this.#asked.get(request.target) : undefined;
    if (asked !== undefined) return asked;
    const fetched = this.#ask(request);
    this.#asked.set(request.target, fetched);
    const fresh = await fetched;
    if (this.#asked.get(request.target) === fetched) this.#asked.delete(request.target);
    return fresh;
  }

  /** Returns undefined if the origin cannot be reached. */
  async #ask({ id, target }: EdgeRequest): Promise<Stored | undefined> {
    const old = this.#stored.get(target);
    const givenUp = new AbortController();
    const timer = this.#clock.after(ORIGIN_MS, () => {
      givenUp.abort();
    });
    try {
      const answer = await Promise.race([
        this.#send({ id, target, ifNoneMatch: old?.answer.headers.etag, signal: givenUp.signal }),
        rejectedOn(givenUp.signal),
      ]);
      return this.#store(target, answer, old);
    } catch {
      return undefined;
    } finally {
      timer.cancel();
    }
  }

  async #send(request: Parameters<HttpOrigin["answer"]>[0]): Promise<Stored> {
    await this.#weather.cross();
    if (this.#clock.now() < this.#cutOffUntil) throw new TypeError("the origin cannot be reached");
    const answer = await this.#origin.answer(request);
    const at = this.#clock.now();
    await this.#weather.cross();
    return { answer, at };
  }

  #store(target: string, { answer, at }: Stored, old: Stored | undefined): Stored {
    const isValidated = answer.status === 304 && old !== undefined;
    const fresh = isValidated
      ? {
          answer: {
            ...old.answer,
            headers: { ...old.answer.headers, ...answer.headers },
            said: answer.said,
          },
          at,
        }
      : { answer, at };
    const { status } = fresh.answer;
    if (status < 500 && directive(fresh, "max-age") > 0) this.#stored.set(target, fresh);
    return fresh;
  }

  #ageMs({ at }: Stored): number {
    return this.#clock.now() - at;
  }
}

/** Returns the seconds of a directive of `cache-control`; 0: it has none. */
function directive({ answer: { headers } }: Stored, name: string): number {
  const [, seconds = "0"] =
    new RegExp(`\\b${name}=(\\d+)`).exec(headers["cache-control"] ?? "") ?? [];
  return Number(seconds);
}

async function rejectedOn(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => {
      reject(new TypeError("504 of the cache"));
    });
  });
}
