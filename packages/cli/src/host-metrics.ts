import { readdirSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Health, MetricsMeter } from "@xdstp/server";
import type { Clock } from "@xdstp/core";
import { cutText } from "./fit-text.ts";

type Rows = () => readonly Health[];

/** Creates gauges of the health of what is served. They are read at each scrape. The README of this package describes them. */
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

/** The number of characters of a reason in a label. */
const longestReason = 300;

/** Kinds of {@link Health} that have metrics of their own: the kind, the label, and a description. */
const measured = [
  ["source", "source", "The served folder"],
  ["policy", "policy", "The policy file"],
  ["certificate", "certificate", "A certificate that is in use"],
  ["upstream", "upstream", "A server upstream (stale: it cannot be reached)"],
] as const;

/** Creates the counter `xdstp_log_lines_lost_total`. */
export function recordLogLoss(meter: MetricsMeter, linesLost: () => number): void {
  const description =
    "Lines of the log that could not be written: a full disk, a reader that has closed the pipe or is too slow";
  meter
    .createObservableCounter("xdstp_log_lines_lost_total", { description })
    .addCallback((result) => {
      result.observe(linesLost(), {});
    });
}

/** The options of {@link recordProcess}. */
interface ProcessMetricsOptions {
  readonly clock: Pick<Clock, "wallTime">;
  /** The version of this package. */
  readonly version: string;
  /** The version of Node, like `process.versions.node`. */
  readonly nodeVersion: string;
}

/** The interval in milliseconds in which the delay of the event loop is sampled. The metrics show only the delay beyond this interval. */
const resolutionMs = 10;

/** Creates metrics of this process, with the names that other Prometheus clients use. Returns a function that stops the measurement. */
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

/** The metrics of the event loop cover at least the newest 30 s and at most the newest 60 s. They do not depend on who scrapes them, or how often. */
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
