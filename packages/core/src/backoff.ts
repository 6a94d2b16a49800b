/** How long to wait between streams, in milliseconds; each part has a default. */
export interface BackoffOptions {
  /** The first wait. Default: 1,000. */
  readonly initialMs?: number;
  /** Each wait is this many times the one before. Default: 1.6. */
  readonly factor?: number;
  /** A wait is off by at most this share, either way. 1: anything between none and twice. Default: 0.2. */
  readonly jitter?: number;
  /** No wait is longer, jitter aside. Default: 120,000. */
  readonly maxMs?: number;
}

/** Waits that grow until something comes (C-RECON-1). */
export interface Backoff {
  /** The next wait, in milliseconds. */
  next(): number;
  /** A response has come: the next wait is the first one again. */
  reset(): void;
}

/** Exponential, with jitter, as gRPC waits. `random` gives numbers from 0 up to 1. */
export function createBackoff(
  { initialMs = 1_000, factor = 1.6, jitter = 0.2, maxMs = 120_000 }: BackoffOptions,
  random: () => number,
): Backoff {
  let ms = initialMs;
  return {
    next() {
      const wait = ms * (1 + jitter * (2 * random() - 1));
      ms = Math.min(maxMs, ms * factor);
      return Math.max(0, wait);
    },
    reset() {
      ms = initialMs;
    },
  };
}
