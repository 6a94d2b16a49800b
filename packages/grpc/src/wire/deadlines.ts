import type { Clock, Timer } from "@xdstp/core";

/** Things that each have the same time from when they were added, with one timer for all. */
export interface Deadlines<T> {
  /** Its time begins; again if it was in already. */
  add(item: T): void;
  /** Its time does not end any more. false: it was not in. */
  remove(item: T): boolean;
}

/** Calls back for each item that was not removed within `ms` milliseconds. The equal times keep the items in order, so the first is due first. */
export function createDeadlines<T>(
  clock: Clock,
  ms: number,
  onDue: (item: T) => void,
): Deadlines<T> {
  const due = new Map<T, number>();
  let timer: Timer | undefined;
  const arm = (): void => {
    const [first] = due.values();
    if (timer === undefined && first !== undefined)
      timer = clock.after(Math.max(0, first - clock.now()), run);
  };
  const disarm = (): void => {
    timer?.cancel();
    timer = undefined;
  };
  const run = (): void => {
    timer = undefined;
    const now = clock.now();
    for (const [item, at] of due) {
      if (at > now) break;
      due.delete(item);
      onDue(item);
    }
    arm();
  };
  return {
    add(item) {
      due.delete(item);
      due.set(item, clock.now() + ms);
      arm();
    },
    remove(item) {
      const was = due.delete(item);
      if (due.size === 0) disarm();
      return was;
    },
  };
}

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
