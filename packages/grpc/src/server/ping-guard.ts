import type { Clock } from "@xdstp/core";

/** Watches the pings of one client. */
export interface PingGuard {
  /** A ping was received. false: too many came too soon. */
  ping(): boolean;
}

const forgiven = 3;

/**
 * A guard that forgives three pings in a row that come sooner than `minIntervalMs` after the one before.
 *
 * Clients answer DATA with pings to measure the bandwidth (grpc-go, C-core and grpc-java do). So a ping after which `sentBytes` has grown begins a new row,
 * as every DATA or HEADERS frame does in the server of grpc-go (gRFC A8).
 */
export function createPingGuard(
  clock: Clock,
  minIntervalMs: number,
  meter: { readonly sentBytes: number },
): PingGuard {
  return new Guard(clock, minIntervalMs, meter);
}

class Guard implements PingGuard {
  readonly #clock: Clock;
  readonly #minIntervalMs: number;
  readonly #meter: { readonly sentBytes: number };
  #last: number | undefined;
  #sentBytes: number;
  #strikes = 0;

  constructor(clock: Clock, minIntervalMs: number, meter: { readonly sentBytes: number }) {
    this.#clock = clock;
    this.#minIntervalMs = minIntervalMs;
    this.#meter = meter;
    this.#sentBytes = meter.sentBytes;
  }

  ping(): boolean {
    const now = this.#clock.now();
    const { sentBytes } = this.#meter;
    const isEarly = this.#last !== undefined && now - this.#last < this.#minIntervalMs;
    this.#strikes = isEarly && sentBytes === this.#sentBytes ? this.#strikes + 1 : 0;
    this.#last = now;
    this.#sentBytes = sentBytes;
    return this.#strikes <= forgiven;
  }
}
