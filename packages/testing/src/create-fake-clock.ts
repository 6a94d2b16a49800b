import type { Clock } from "@xdstp/core";

import { createCallQueue } from "./call-queue.ts";

/** A `Clock` that stands still until a test moves it. */
export interface FakeClock extends Clock {
  /**
   * Moves the time forward and makes the calls that are due, in the order of their times; calls
   * with equal times are made in the order in which they were added. `now()` is the time of each
   * call.
   * A call that is added by another call is made in the same `advance` if its time is within it. A
   * call that throws ends the `advance` at its time.
   */
  advance(ms: number): void;
  /** Moves the time to the next call and makes only that call. Returns false if no call waits. */
  step(): boolean;
  /**
   * Steps the wall clock forward, or back with a negative number, as NTP or an operator does.
   * `now()` and waiting calls are not affected.
   */
  stepWallTime(ms: number): void;
  /** The time of the next call. `undefined`: no call waits. */
  readonly next: number | undefined;
  /** The number of waiting calls. */
  readonly pending: number;
}

/**
 * Creates a clock for tests: time passes only when the test says so, so the same test always runs
 * in the same way.
 */
export function createFakeClock(
  options: {
    /** The first value of `now()` and of `wallTime()`, in milliseconds. Default: 0. */
    readonly start?: number;
  } = {},
): FakeClock {
  let now = options.start ?? 0;
  let wallOffset = 0;
  const calls = createCallQueue();
  const step = (): boolean => {
    const call = calls.take();
    if (call === undefined) return false;
    now = Math.max(now, call.at);
    call.callback();
    return true;
  };
  const runUntil = (end: number): void => {
    while ((calls.peek()?.at ?? Infinity) <= end) step();
    now = Math.max(now, end);
  };
  return {
    now: () => now,
    wallTime: () => now + wallOffset,
    stepWallTime(ms) {
      wallOffset += ms;
    },
    step,
    get next() {
      return calls.peek()?.at;
    },
    get pending() {
      return calls.size;
    },
    after(ms, callback) {
      const call = calls.add(now + Math.max(0, ms), callback);
      return {
        cancel: () => {
          calls.cancel(call);
        },
      };
    },
    advance(ms) {
      if (!(ms >= 0)) throw new RangeError(`time cannot be moved by ${ms} ms: give 0 or more`);
      runUntil(now + ms);
    },
  };
}
