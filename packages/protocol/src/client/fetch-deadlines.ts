import type { Clock, Timer } from "@xdstp/core";
import { isPending, type Wanted } from "./wanted.ts";

/**
 * The does-not-exist timers (C-MISS-4). The interests of one request share an entry, and all
 * entries share one timer.
 */
export interface FetchDeadlines {
  /** Starts the time of interests that have just been requested. */
  start(wanted: readonly Wanted[]): void;
  /** Stops all timers when the stream is over: nothing can be concluded any more. */
  stop(): void;
}

interface Batch {
  readonly due: number;
  readonly wanted: readonly Wanted[];
}

/** @param ms - The time limit in milliseconds. 0: none */
export function createFetchDeadlines(
  clock: Clock,
  ms: number,
  onDue: (wanted: readonly Wanted[]) => void,
): FetchDeadlines {
  let batches: Batch[] = [];
  let timer: Timer | undefined;
  const arm = (): void => {
    const [first] = batches;
    timer =
      first === undefined ? undefined : clock.after(Math.max(0, first.due - clock.now()), run);
  };
  const run = (): void => {
    const now = clock.now();
    const due = batches
      .filter((batch) => batch.due <= now)
      .flatMap(({ wanted }) => wanted.filter(isPending));
    batches = batches.filter((batch) => batch.due > now);
    arm();
    if (due.length > 0) onDue(due);
  };
  return {
    start(wanted) {
      if (ms === 0 || wanted.length === 0) return;
      batches.push({ due: clock.now() + ms, wanted });
      if (timer === undefined) arm();
    },
    stop() {
      batches = [];
      timer?.cancel();
      timer = undefined;
    },
  };
}
