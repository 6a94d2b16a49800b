import type { Clock, Timer } from "@xdstp/core";

/** Calls back once after a time in which nothing came: the only sign that a collection is complete (C-GLOB-9), and that a stream has no subscribers any more (C-STREAM-14). */
export interface IdleTimer {
  /** Something has come: the time begins again. */
  touch(): void;
  stop(): void;
}

/** Moves one timer along instead of making one for each response. */
export function createIdleTimer(clock: Clock, ms: number, onIdle: () => void): IdleTimer {
  let timer: Timer | undefined;
  let due = 0;
  const run = (): void => {
    const left = due - clock.now();
    timer = left > 0 ? clock.after(left, run) : undefined;
    if (timer === undefined) onIdle();
  };
  return {
    touch() {
      due = clock.now() + ms;
      timer ??= clock.after(ms, run);
    },
    stop() {
      timer?.cancel();
      timer = undefined;
    },
  };
}
