import type { MetricsMeter } from "@xdstp/server";

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
