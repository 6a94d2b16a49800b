/** One pending call of a {@link Clock}. */
export interface Timer {
  /** Does nothing once the call has been made. */
  cancel(): void;
}

/**
 * Time as the state machines see it: passed in, so that tests own it.
 *
 * The two times must not be mixed. `now()` measures intervals; a step of the wall clock (NTP, an operator, a resumed machine) does not move it.
 * `wallTime()` names a moment for people and files; two of its values may be in the wrong order.
 */
export interface Clock {
  /** Whole milliseconds since an arbitrary moment; they never go back. For intervals, deadlines and ages. */
  now(): number;
  /** Milliseconds since the Unix epoch, as the machine has it at this moment. For what is shown or stored, never for an interval. */
  wallTime(): number;
  /** Calls back once, after at least `ms` milliseconds. The callback never runs before `after` returns. */
  after(ms: number, callback: () => void): Timer;
}

/** The clock of the machine. Its timers do not keep a process alive. */
export const systemClock: Clock = {
  now: () => Math.floor(performance.now()),
  wallTime: () => Date.now(),
  after(ms, callback) {
    let timer: NodeJS.Timeout;
    const wait = (left: number): void => {
      const now = Math.min(left, LONGEST);
      timer = setTimeout(() => {
        if (left > now) wait(left - now);
        else callback();
      }, now);
      timer.unref();
    };
    wait(ms);
    return {
      cancel: () => {
        clearTimeout(timer);
      },
    };
  },
};

/** The longest time that a timer of the machine can wait; a longer one would be over at once. A TTL of a month is more. */
const LONGEST = 2 ** 31 - 1;

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

/** Waits that grow until something comes (C-RECON-1): exponential, with jitter, as gRPC waits. `random` gives numbers from 0 up to 1. */
export function createBackoff(
  { initialMs = 1_000, factor = 1.6, jitter = 0.2, maxMs = 120_000 }: BackoffOptions,
  random: () => number,
): {
  /** The next wait, in milliseconds. */
  next(): number;
  /** A response has come: the next wait is the first one again. */
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
