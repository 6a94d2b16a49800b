import { readdirSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Clock } from "@xdstp/core";
import type { MetricsMeter } from "@xdstp/server";

/** What {@link recordProcess} needs. */
export interface ProcessMetricsOptions {
  readonly clock: Pick<Clock, "wallTime">;
  /** Of this package. */
  readonly version: string;
  /** As in `process.versions.node`. */
  readonly nodeVersion: string;
}

/** The event loop is looked at this often, in milliseconds; a delay counts beyond it. */
const resolutionMs = 10;

/** Measures this process under the names that Prometheus clients use. The answer ends it. */
export function recordProcess(
  meter: MetricsMeter,
  { clock, version, nodeVersion }: ProcessMetricsOptions,
): () => void {
  const gauge = (
    name: string,
    description: string,
    read: () => number | undefined,
    labels?: Record<string, string>,
  ): void => {
    meter.createObservableGauge(name, { description }).addCallback((result) => {
      const value = read();
      if (value !== undefined) result.observe(value, labels ?? {});
    });
  };
  const startedAt = clock.wallTime() / 1_000 - process.uptime();
  gauge("xdstp_build_info", "Always 1; the versions of xdstp and Node are its labels", () => 1, {
    version,
    node: nodeVersion,
  });
  meter
    .createObservableCounter("process_cpu_seconds_total", {
      description: "CPU time that the process has used, user and system, in seconds",
    })
    .addCallback((result) => {
      const { user, system } = process.cpuUsage();
      result.observe((user + system) / 1e6, {});
    });
  gauge("process_resident_memory_bytes", "Resident memory of the process in bytes", () =>
    process.memoryUsage.rss(),
  );
  gauge(
    "process_start_time_seconds",
    "When the process started, in seconds since the epoch",
    () => startedAt,
  );
  gauge("process_open_fds", "Open file descriptors of the process; Linux only", openFiles);
  gauge(
    "nodejs_heap_size_used_bytes",
    "Memory that JavaScript objects use, in bytes",
    () => process.memoryUsage().heapUsed,
  );
  return recordLag(gauge);
}

type Gauge = (name: string, description: string, read: () => number | undefined) => void;

/** The newest 30 s at least, the newest minute at most: independent of who scrapes, and how often. */
const windowMs = 30_000;

function recordLag(gauge: Gauge): () => void {
  let [older, newer] = [
    monitorEventLoopDelay({ resolution: resolutionMs }),
    monitorEventLoopDelay({ resolution: resolutionMs }),
  ];
  older.enable();
  newer.enable();
  const timer = setInterval(() => {
    older.reset();
    [older, newer] = [newer, older];
  }, windowMs).unref();
  const seconds = (nanoseconds: number): number | undefined =>
    older.count === 0 ? undefined : Math.max(0, nanoseconds / 1e9 - resolutionMs / 1_000);
  gauge(
    "nodejs_eventloop_lag_p99_seconds",
    "Delay of the event loop in the newest 30 s to 60 s, in seconds: 99th percentile",
    () => seconds(older.percentile(99)),
  );
  gauge(
    "nodejs_eventloop_lag_max_seconds",
    "Delay of the event loop in the newest 30 s to 60 s, in seconds: longest",
    () => seconds(older.max),
  );
  gauge(
    "nodejs_eventloop_lag_mean_seconds",
    "Delay of the event loop in the newest 30 s to 60 s, in seconds: mean",
    () => seconds(older.mean),
  );
  return () => {
    clearInterval(timer);
    older.disable();
    newer.disable();
  };
}

function openFiles(): number | undefined {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return undefined;
  }
}
