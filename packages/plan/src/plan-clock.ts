import type { Clock } from "@xdstp/core";

/** A clock that moves only when it is moved. */
export interface PlanClock extends Clock {
  /** Moves to the next timer that is due within `atMostMs` from now and calls it; false: there is none. */
  toNextTimer(atMostMs: number): boolean;
  /** Moves by a time without calling timers. */
  skip(ms: number): void;
}

interface Pending {
  readonly at: number;
  readonly callback: () => void;
}

/** Makes a clock whose timers are called one by one. */
export function createPlanClock(): PlanClock {
  const timers = new Set<Pending>();
  let now = 0;
  return {
    now: () => now,
    wallTime: () => now,
    after(ms, callback) {
      const pending = { at: now + ms, callback };
      timers.add(pending);
      return {
        cancel: () => {
          timers.delete(pending);
        },
      };
    },
    toNextTimer(atMostMs) {
      let next: Pending | undefined;
      for (const timer of timers) if (next === undefined || timer.at < next.at) next = timer;
      if (next === undefined || next.at > now + atMostMs) return false;
      timers.delete(next);
      now = Math.max(now, next.at);
      next.callback();
      return true;
    },
    skip(ms) {
      now += ms;
    },
  };
}
