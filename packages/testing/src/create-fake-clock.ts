import type { Clock } from "@xdstp/core";

import { createCallQueue } from "./call-queue.ts";

/** A `Clock` that stands still until a test moves it. */
export interface FakeClock extends Clock {
  /**
   * Moves the time on and makes the calls that fall due, in the order of their times, equal times in the order of their making; `now()` is the time of each.
   * What a call puts on the clock falls due in the same `advance` if its time is within it. A call that throws ends the `advance` at its time.
   */
  advance(ms: number): void;
  /** Moves the time to the next call and makes it, that one alone. false: none waits. */
  step(): boolean;
  /** Sets the wall clock forward, or back with a negative number, as NTP or an operator does. `now()` and the calls that wait stay where they are. */
  stepWallTime(ms: number): void;
  /** When the next call falls due; undefined: none waits. */
  readonly next: number | undefined;
  /** Calls that wait. */
  readonly pending: number;
}

/** Time for tests: nothing happens by itself, and the same test always runs the same way. */
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
