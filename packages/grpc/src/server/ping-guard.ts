import type { Clock } from "@xdstp/core";

/** Watches the pings of one client. */
export interface PingGuard {
  /** A ping came. false: too many have come too soon. */
  ping(): boolean;
  /** Something was sent: clients that measure the bandwidth answer data with pings. */
  sent(): void;
}

const forgiven = 3;

/** A guard that bears three pings in a row that come sooner than `minIntervalMs` after the one before. */
export function createPingGuard(clock: Clock, minIntervalMs: number): PingGuard {
  return new Guard(clock, minIntervalMs);
}

class Guard implements PingGuard {
  readonly #clock: Clock;
  readonly #minIntervalMs: number;
  #last: number | undefined;
  #strikes = 0;

  constructor(clock: Clock, minIntervalMs: number) {
    this.#clock = clock;
    this.#minIntervalMs = minIntervalMs;
  }

  ping(): boolean {
    const now = this.#clock.now();
    this.#strikes = this.#last !== undefined && now - this.#last < this.#minIntervalMs ? this.#strikes + 1 : 0;
    this.#last = now;
    return this.#strikes <= forgiven;
  }

  sent(): void { this.#strikes = 0; }
}
