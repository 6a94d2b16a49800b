import type { Clock } from "@xdstp/core";

/** A token bucket. Tokens are taken after the work is done, so the balance may fall below zero. */
export interface TokenBucket {
  /** The present number of tokens. */
  readonly balance: number;
  take(tokens: number): void;
  /** Milliseconds until there is a token; 0: there is one. */
  readonly waitMs: number;
}

/** Creates a full bucket. */
export function createTokenBucket(clock: Clock, size: number, perSecond: number): TokenBucket {
  return new Bucket(clock, size, perSecond);
}

class Bucket implements TokenBucket {
  readonly #clock: Clock;
  readonly #size: number;
  readonly #perSecond: number;
  #balance: number;
  #at: number;

  constructor(clock: Clock, size: number, perSecond: number) {
    this.#clock = clock;
    this.#size = size;
    this.#perSecond = perSecond;
    this.#balance = size;
    this.#at = clock.now();
  }

  get balance(): number {
    const now = this.#clock.now();
    this.#balance = Math.min(
      this.#size,
      this.#balance + (Math.max(0, now - this.#at) * this.#perSecond) / 1000,
    );
    this.#at = now;
    return this.#balance;
  }

  get waitMs(): number {
    return Math.max(0, Math.ceil(((1 - this.balance) * 1000) / this.#perSecond));
  }

  take(tokens: number): void {
    this.#balance = this.balance - tokens;
  }
}
