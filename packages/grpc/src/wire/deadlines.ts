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

/** What {@link stallTimer} watches. */
interface Stall {
  /** Milliseconds of one look. */
  readonly ms: number;
  /** Bytes that have to move within a look. */
  readonly leastBytes: number;
  /** Bytes that have moved so far. */
  readonly moved: () => number;
  /** Too few have moved. Called once. */
  readonly onStalled: () => void;
}

/** A minimal rate instead of a fixed time: calls back once fewer than `leastBytes` have moved within `ms` milliseconds. */
export function stallTimer(clock: Clock, stall: Stall): Timer {
  const { ms, leastBytes, moved, onStalled } = stall;
  let before = moved();
  const look = (): void => {
    const now = moved();
    if (now - before < leastBytes) {
      onStalled();
      return;
    }
    before = now;
    timer = clock.after(ms, look);
  };
  let timer = clock.after(ms, look);
  return {
    cancel: () => {
      timer.cancel();
    },
  };
}
