import { startTimer } from "#platform";

/** One pending call of a {@link Clock}. */
export interface Timer {
  /** Does nothing once the call has been made. */
  cancel(): void;
}

/**
 * Time as the state machines see it. It is passed in, so that a test can control it.
 *
 * Do not mix the two times. `now()` measures intervals; a step of the wall clock (NTP, an operator,
 * a resumed machine) does not change it. `wallTime()` is a moment for people and files; a later
 * value may be smaller than an earlier one.
 */
export interface Clock {
  /**
   * Returns whole milliseconds since an arbitrary moment; the value never decreases. For intervals,
   * deadlines and ages.
   */
  now(): number;
  /**
   * Returns milliseconds since the Unix epoch by the clock of the machine. For times that are shown
   * or stored, never for an interval.
   */
  wallTime(): number;
  /** Calls back once, after at least `ms` milliseconds. The callback never runs before `after` returns. */
  after(ms: number, callback: () => void): Timer;
}

/** The clock of the machine. Its timers do not keep the process alive. */
export const systemClock: Clock = {
  now: () => Math.floor(performance.now()),
  wallTime: () => Date.now(),
  after(ms, callback) {
    let cancel = (): void => undefined;
    const wait = (left: number): void => {
      const now = Math.min(left, LONGEST);
      cancel = startTimer(now, () => {
        if (left > now) wait(left - now);
        else callback();
      });
    };
    wait(ms);
    return {
      cancel: () => {
        cancel();
      },
    };
  },
};

/**
 * The longest time that a timer of Node.js or of a browser can wait, in milliseconds (about 25 days). A longer one,
 * such as a TTL of a month, would be due at once.
 */
const LONGEST = 2 ** 31 - 1;

/** The options of {@link createBackoff}: how long to wait between streams, in milliseconds. */
export interface BackoffOptions {
  /** The first wait in milliseconds. Default: 1,000. */
  readonly initialMs?: number;
  /** Each wait is the one before multiplied by this factor. Default: 1.6. */
  readonly factor?: number;
  /**
   * The greatest random deviation, as a share of the wait: with 0.2, a wait of 1,000 ms is 800 to
   * 1,200 ms; with 1, it is 0 to 2,000 ms. Default: 0.2.
   */
  readonly jitter?: number;
  /** The longest wait in milliseconds, before jitter. Default: 120,000. */
  readonly maxMs?: number;
}

/**
 * Creates waits that grow until a response arrives (C-RECON-1): exponential with jitter, as in
 * gRPC. `random` returns numbers from 0 up to, not including, 1.
 */
export function createBackoff(
  { initialMs = 1_000, factor = 1.6, jitter = 0.2, maxMs = 120_000 }: BackoffOptions,
  random: () => number,
): {
  /** Returns the next wait in milliseconds. */
  next(): number;
  /** Call this when a response has arrived: the next wait is the first one again. */
  reset(): void;
} {
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
