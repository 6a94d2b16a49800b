import type { Clock, Topic, Watcher } from "@xdstp/core";

/** How a wait ended. */
export type Settled = "settled" | "late" | "aborted";

/** What a wait is bounded by. */
export interface WaitLimits {
  readonly clock: Clock;
  /** Milliseconds. */
  readonly atMostMs: number;
  readonly signal: AbortSignal;
}

/** Waits until every topic is settled, for a time at most. Leaves no watcher, timer or listener behind. */
export async function whenSettled(topics: readonly Topic[], limits: WaitLimits): Promise<Settled> {
  if (limits.signal.aborted) return "aborted";
  const open = topics.filter((topic) => !topic.settled);
  return open.length === 0
    ? "settled"
    : new Promise((resolve) => {
        wait(open, limits, resolve);
      });
}

function wait(
  topics: readonly Topic[],
  { clock, atMostMs, signal }: WaitLimits,
  resolve: (settled: Settled) => void,
): void {
  const open = new Set(topics);
  const end = (settled: Settled): void => {
    for (const topic of topics) topic.unwatch(watcher);
    signal.removeEventListener("abort", onAbort);
    timer.cancel();
    resolve(settled);
  };
  const watcher: Watcher = {
    wake(topic) {
      if (topic.settled && open.delete(topic) && open.size === 0) end("settled");
    },
  };
  const onAbort = (): void => {
    end("aborted");
  };
  const timer = clock.after(atMostMs, () => {
    end("late");
  });
  signal.addEventListener("abort", onAbort);
  for (const topic of topics) topic.watch(watcher);
}
