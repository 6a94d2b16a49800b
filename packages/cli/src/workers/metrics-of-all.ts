import type { Clock } from "@xdstp/core";
import type { Health } from "@xdstp/server";
import type { FromChild } from "./messages.ts";
import type { Child } from "./start-child.ts";
import { countsOf, sumMetrics } from "./sum-metrics.ts";

/** How long a worker has to say what it has measured; then what it said last counts. */
const waitMs = 2_000;

/** What all workers have measured, as one. */
export interface MetricsOfAll {
  /** In the text format of Prometheus. Concurrent callers get the same answer. */
  text(): Promise<string>;
  observe(child: Child, message: FromChild): void;
  /** It has ended: what it has counted still counts. */
  gone(child: Child): void;
}

/** Nothing is measured yet. `children`: all that there are now. `upstreams`: how the servers upstream are now. */
export function createMetricsOfAll(
  children: () => readonly Child[],
  upstreams: () => Promise<readonly Health[]>,
  clock: Clock,
): MetricsOfAll {
  const newest = new Map<number, string>();
  const missing = new Set<Child>();
  let past = "";
  let asked: Promise<void> | undefined;
  let done = (): void => undefined;
  const settle = (child: Child): void => {
    if (missing.delete(child) && missing.size === 0) done();
  };
  const ask = async (): Promise<void> => {
    for (const child of children()) if (child.worker > 0 && child.isOpen()) missing.add(child);
    const answered = new Promise<void>((resolve) => {
      done = resolve;
    });
    const timer = clock.after(waitMs, () => {
      done();
    });
    const asked = [...missing];
    void upstreams().then((rows) => {
      for (const child of asked) child.send({ kind: "metrics", upstreams: rows });
    });
    if (missing.size > 0) await answered;
    timer.cancel();
    missing.clear();
  };
  return {
    async text() {
      await (asked ??= ask().finally(() => {
        asked = undefined;
      }));
      return sumMetrics([past, ...newest.values()]);
    },
    observe(child, message) {
      if (message.kind !== "metrics") return;
      newest.set(child.worker, message.text);
      settle(child);
    },
    gone(child) {
      past = sumMetrics([past, countsOf(newest.get(child.worker) ?? "")]);
      newest.delete(child.worker);
      settle(child);
    },
  };
}
