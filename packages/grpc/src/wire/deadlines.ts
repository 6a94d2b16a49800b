import type { Clock, Timer } from "@xdstp/core";

/** The maximum delay of a timer of Node. A longer one fires at once. */
export const longestTimerMs = 0x7fff_ffff;

/**
 * Calls back once after `ms` milliseconds, for any number: a timer holds 24 days, but a
 * `grpc-timeout` of Armeria may be 292 years.
 */
export function startDeadline(clock: Clock, ms: number, callback: () => void): Timer {
  if (ms <= longestTimerMs) return clock.after(ms, callback);
  let timer: Timer = clock.after(longestTimerMs, () => {
    timer = startDeadline(clock, ms - longestTimerMs, callback);
  });
  return {
    cancel: () => {
      timer.cancel();
    },
  };
}

/** Options of {@link stallTimer}. */
interface Stall {
  /** Milliseconds between two checks. */
  readonly ms: number;
  /** The minimum number of bytes between two checks. */
  readonly leastBytes: number;
  /** Returns the number of bytes so far. */
  readonly moved: () => number;
  /**
   * Returns true if bytes have to move: only if it does so before and after `ms` milliseconds they
   * count. Default: always.
   */
  readonly expects?: () => boolean;
  /** Called once, when there were too few. */
  readonly onStalled: () => void;
}

/**
 * Enforces a minimum rate: calls back once fewer than `leastBytes` have moved within `ms`
 * milliseconds.
 */
export function stallTimer(clock: Clock, stall: Stall): Timer {
  const { ms, leastBytes, moved, expects = () => true, onStalled } = stall;
  let before = moved();
  let expected = expects();
  const look = (): void => {
    const now = moved();
    const expectsNow = expects();
    if (expected && expectsNow && now - before < leastBytes) {
      onStalled();
      return;
    }
    before = now;
    expected = expectsNow;
    timer = clock.after(ms, look);
  };
  let timer = clock.after(ms, look);
  return {
    cancel: () => {
      timer.cancel();
    },
  };
}
