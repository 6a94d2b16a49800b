import { readdirSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Health, MetricsMeter } from "@xdstp/server";
import type { Clock } from "@xdstp/core";
import { cutText } from "./fit-text.ts";

type Rows = () => readonly Health[];

/** Measures how things stand with what is served: gauges that are read when they are scraped. Their names are documented in the README of this package. */
export function recordHealth(meter: MetricsMeter, rows: Rows): void {
  const gauge = (
    name: string,
    description: string,
    observe: (row: Health) => readonly [value: number, labels?: Record<string, string>] | undefined,
  ): void => {
    meter.createObservableGauge(name, { description }).addCallback((result) => {
      for (const row of rows()) {
        const [value, labels = {}] = observe(row) ?? [];
        if (value !== undefined) result.observe(value, labels);
      }
    });
  };
  for (const [kind, label, what] of measured) {
    const labelsOf = ({ name }: Health): Record<string, string> => ({ [label]: name });
    gauge(
      `xdstp_${kind}_stale`,
      `${what}: 1 while the newest state is not used and the last good one is served, else 0`,
      (row) => (row.kind === kind ? [row.stale === undefined ? 0 : 1, labelsOf(row)] : undefined),
    );
    gauge(
      `xdstp_${kind}_loaded_timestamp_seconds`,
      `${what}: when the last good state was loaded, in seconds since the epoch`,
      (row) =>
        row.kind === kind && row.loadedAt !== undefined
          ? [row.loadedAt / 1_000, labelsOf(row)]
          : undefined,
    );
  }
  gauge(
    "xdstp_stale_since_timestamp_seconds",
    "Since when the newest state of something is not used, in seconds since the epoch, and why: file, line and problem",
    ({ kind, name, stale }) =>
      stale === undefined
        ? undefined
        : [stale.since / 1_000, { kind, name, reason: cutText(stale.reason, longestReason) }],
  );
  gauge("xdstp_source_broken_files", "Files of the served folder that are broken", (row) =>
    row.kind === "source" ? [row.stale?.brokenFiles ?? 0, { source: row.name }] : undefined,
  );
  gauge(
    "xdstp_certificate_expiry_timestamp_seconds",
    "When a certificate expires, in seconds since the epoch: the server's, the last authority of clients, or the one that a relay shows upstream",
    ({ kind, name, expiresAt }) =>
      kind === "certificate" && expiresAt !== undefined
        ? [expiresAt / 1_000, { certificate: name }]
        : undefined,
  );
}

/** Characters of a reason in a label. */
const longestReason = 300;

/** Kinds of {@link Health} with a metric of their own: its label, and what it is. */
const measured = [
  ["source", "source", "The served folder"],
  ["policy", "policy", "The policy file"],
  ["certificate", "certificate", "A certificate that is in use"],
  ["upstream", "upstream", "A server upstream (stale: it cannot be reached)"],
] as const;

/** Measures `xdstp_log_lines_lost_total`. */
export function recordLogLoss(meter: MetricsMeter, linesLost: () => number): void {
  const description =
    "Lines of the log that could not be written: a full disk, a reader that has closed the pipe or is too slow";
  meter
    .createObservableCounter("xdstp_log_lines_lost_total", { description })
    .addCallback((result) => {
      result.observe(linesLost(), {});
    });
}

/** What {@link recordProcess} needs. */
interface ProcessMetricsOptions {
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
