import type { Clock } from "@xdstp/core";
import type { Health } from "@xdstp/server";
import type { FromChild } from "./messages.ts";
import type { Child } from "./start-child.ts";

/** Milliseconds to wait for the metrics of a worker; after that its last answer is used. */
const waitMs = 2_000;

/** The sum of the metrics of all workers. */
export interface MetricsOfAll {
  /** Returns the metrics in the text format of Prometheus. Concurrent callers get the same answer. */
  text(): Promise<string>;
  observe(child: Child, message: FromChild): void;
  /** Notes that a process has ended. Its counters are still part of the sum. */
  gone(child: Child): void;
}

/** Creates the sum, with nothing measured yet. `children` returns the current processes, and `upstreams` the current health of the servers upstream. */
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

interface Family {
  /** The lines before the series: `# HELP` and `# TYPE`. */
  readonly head: readonly string[];
  readonly isGauge: boolean;
  readonly series: Map<string, number>;
}

/** Metrics that are states, times and delays. They are not added; the largest value of all processes is used. */
const largest =
  /^(xdstp_revision|process_start_time_seconds|nodejs_eventloop_lag_\w+)$|_(stale|info|timestamp_seconds|broken_files)$/;

/** Merges the Prometheus texts of several processes: the values of equal series are added. */
export function sumMetrics(texts: readonly string[]): string {
  const sum = new Map<string, Family>();
  for (const text of texts)
    for (const [name, { head, isGauge, series }] of familiesOf(text)) {
      const family = sum.get(name) ?? { head, isGauge, series: new Map<string, number>() };
      sum.set(name, family);
      for (const [key, value] of series) {
        const before = family.series.get(key) ?? 0;
        family.series.set(key, largest.test(name) ? Math.max(before, value) : before + value);
      }
    }
  return textOf(sum.values());
}

/** Returns the metrics that stay in the sum after their process has ended: all but gauges. */
export function countsOf(text: string): string {
  return textOf(
    familiesOf(text)
      .values()
      .filter(({ isGauge }) => !isGauge),
  );
}

function familiesOf(text: string): ReadonlyMap<string, Family> {
  const families = new Map<string, Family>();
  let series = new Map<string, number>();
  const lines = text.split("\n").filter((line) => line !== "");
  for (const [at, line] of lines.entries()) {
    const [, name] = /^# HELP (\S+)/.exec(line) ?? [];
    const type = lines[at + 1] ?? "";
    if (name !== undefined)
      families.set(name, {
        head: [line, type],
        isGauge: type.endsWith(" gauge"),
        series: (series = new Map<string, number>()),
      });
    else if (!line.startsWith("#"))
      series.set(
        line.slice(0, line.lastIndexOf(" ")),
        Number(line.slice(line.lastIndexOf(" ") + 1)),
      );
  }
  return families;
}

function textOf(families: Iterable<Family>): string {
  return Array.from(families, ({ head, series }) =>
    [...head, ...series.entries().map(([key, value]) => `${key} ${value}`), ""].join("\n"),
  ).join("");
}
