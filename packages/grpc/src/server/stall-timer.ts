import type { Clock, Timer } from "@xdstp/core";

/** What {@link stallTimer} watches. */
export interface Stall {
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
