import type { Clock } from "@xdstp/core";

/** Options of {@link createFakeClock}. */
export interface FakeClockOptions {
  /** What `now()` says first, in milliseconds since the Unix epoch. Default: 0. */
  readonly start?: number;
}

/** A `Clock` that stands still until a test moves it. */
export interface FakeClock extends Clock {
  /**
   * Moves the time on and makes the calls that fall due, in the order of their times, equal times in the order of their making; `now()` is the time of each.
   * What a call puts on the clock falls due in the same `advance` if its time is within it. A call that throws ends the `advance` at its time.
   */
  advance(ms: number): void;
  /** Calls that wait. */
  readonly pending: number;
}

interface Call {
  readonly at: number;
  readonly callback: () => void;
}

/** Time for tests: nothing happens by itself, and the same test always runs the same way. */
export function createFakeClock(options: FakeClockOptions = {}): FakeClock {
  let now = options.start ?? 0;
  const calls = new Set<Call>();
  const runUntil = (end: number): void => {
    for (let next = earliest(calls, end); next !== undefined; next = earliest(calls, end)) {
      calls.delete(next);
      now = Math.max(now, next.at);
      next.callback();
    }
    now = Math.max(now, end);
  };
  return {
    now: () => now,
    get pending() { return calls.size; },
    after(ms, callback) {
      const call = { at: now + Math.max(0, ms), callback };
      calls.add(call);
      return { cancel: () => { calls.delete(call); } };
    },
    advance(ms) {
      if (!(ms >= 0)) throw new RangeError(`time cannot be moved by ${ms} ms: give 0 or more`);
      runUntil(now + ms);
    },
  };
}

/** The first call at or before `end`; of equal ones the oldest, since a set keeps its order. */
function earliest(calls: ReadonlySet<Call>, end: number): Call | undefined {
  let first: Call | undefined;
  for (const call of calls) {
    if (call.at <= end && (first === undefined || call.at < first.at)) first = call;
  }
  return first;
}
