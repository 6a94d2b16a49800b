import type { Clock } from "@xdstp/core";

/**
 * A clock that a test advances. `@xdstp/testing` has a better one, but depends on a layer above
 * this package.
 */
export interface ManualClock extends Clock {
  readonly timers: number;
  advance(ms: number): void;
}

/** Starts at 0. Callbacks are called in the order of their times. */
export function createManualClock(): ManualClock {
  let now = 0;
  let calls: { readonly at: number; readonly callback: () => void }[] = [];
  return {
    now: () => now,
    wallTime: () => now,
    get timers() {
      return calls.length;
    },
    after(ms, callback) {
      const call = { at: now + ms, callback };
      calls.push(call);
      return {
        cancel: () => {
          calls = calls.filter((other) => other !== call);
        },
      };
    },
    advance(ms) {
      const end = now + ms;
      for (let left = 100_000; ; left--) {
        if (left === 0) throw new Error("timers go on for ever");
        const [next] = calls.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
        if (next === undefined) break;
        calls = calls.filter((other) => other !== next);
        now = next.at;
        next.callback();
      }
      now = end;
    },
  };
}
