import type { Clock, Timer } from "@xdstp/core";

/** The longest time a timer of Node takes; beyond it fires at once. */
export const longestTimerMs = 0x7fff_ffff;

/** Calls back once after `ms` milliseconds, however many: a clock's timer holds 24 days, a `grpc-timeout` of Armeria 292 years. */
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
