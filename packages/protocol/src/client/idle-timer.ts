import type { Clock, Timer } from "@xdstp/core";

/**
 * Calls back once after a time without activity. This is the only sign that a collection is
 * complete (C-GLOB-9), and ends a stream without subscriptions (C-STREAM-14).
 */
export interface IdleTimer {
  /** Starts the time, or starts it again. */
  touch(): void;
  stop(): void;
}

/**
 * Creates an idle timer. It moves the due time of one timer instead of making a timer for each
 * response.
 */
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
