import type { Health, MetricsMeter } from "@xdstp/server";
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
