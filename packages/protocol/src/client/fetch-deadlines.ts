import type { Clock, Timer } from "@xdstp/core";
import type { Want } from "./want.ts";

/** The does-not-exist timer (C-MISS-4). Names asked for in one request share an entry, so ten thousand cost one timer. */
export interface FetchDeadlines {
  /** These have just been asked for. */
  start(wants: readonly Want[]): void;
  /** The stream is gone: nothing can be concluded any more. */
  stop(): void;
}

interface Batch {
  readonly due: number;
  readonly wants: readonly Want[];
}

/** @param ms - 0: nothing is ever due */
export function createFetchDeadlines(
  clock: Clock,
  ms: number,
  onDue: (wants: readonly Want[]) => void,
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
      .flatMap(({ wants }) => wants.filter(({ awaited }) => awaited));
    batches = batches.filter((batch) => batch.due > now);
    arm();
    if (due.length > 0) onDue(due);
  };
  return {
    start(wants) {
      if (ms === 0 || wants.length === 0) return;
      batches.push({ due: clock.now() + ms, wants });
      if (timer === undefined) arm();
    },
    stop() {
      batches = [];
      timer?.cancel();
      timer = undefined;
    },
  };
}
