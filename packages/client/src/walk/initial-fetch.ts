import type { Clock, Timer } from "@xdstp/core";

import { referenceKey, type Gap } from "./graph.ts";

/** How long the first configuration waits for each name (C-WARM-3). */
export interface InitialFetch {
  /** Whether it goes on without this: an answer has come, or the time since it was first asked about is over. */
  mayLack(gap: Gap): boolean;
  /** There is a configuration, or no caller waits any more. */
  stop(): void;
}

/** @param ms - 0: for ever, and answers change nothing; @param onExpiry - called when the time of a name is over */
export function createInitialFetch(ms: number, clock: Clock, onExpiry: () => void): InitialFetch {
  const since = new Map<string, number>();
  let timer: Timer | undefined;
  const arm = (left: number): void => {
    timer ??= clock.after(left, () => {
      timer = undefined;
      onExpiry();
    });
  };
  return {
    mayLack(gap) {
      if (ms <= 0) return false;
      if (gap.answered) return true;
      const key = referenceKey(gap);
      const began = since.get(key) ?? clock.now();
      since.set(key, began);
      const left = began + ms - clock.now();
      if (left > 0) arm(left);
      return left <= 0;
    },
    stop() {
      since.clear();
      timer?.cancel();
      timer = undefined;
    },
  };
}
