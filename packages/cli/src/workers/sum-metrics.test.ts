import { describe, expect, it } from "vitest";
import { createPrometheusMeter, type PrometheusMeter } from "../prometheus-meter.ts";
import { countsOf, sumMetrics } from "./metrics-of-all.ts";

function measured(
  pushes: Readonly<Record<string, number>>,
  streams: number,
  seconds: readonly number[],
  revision: number,
): PrometheusMeter {
  const prometheus = createPrometheusMeter();
  const { meter } = prometheus;
  const counter = meter.createCounter("pushes", { description: "Responses sent" });
  for (const [type, count] of Object.entries(pushes)) counter.add(count, { type });
  meter.createObservableGauge("streams", { description: "Open" }).addCallback((result) => {
    result.observe(streams);
  });
  const histogram = meter.createHistogram("seconds", {
    description: "Time",
    advice: { explicitBucketBoundaries: [1] },
  });
  for (const value of seconds) histogram.record(value);
  meter.createObservableGauge("xdstp_revision", { description: "Newest" }).addCallback((result) => {
    result.observe(revision);
  });
  return prometheus;
}

describe("sumMetrics()", () => {
  it("adds up equal series of several processes, whatever is in their labels; of revisions the largest counts", () => {
    const [one, other] = [
      measured({ a: 1, 'b c\n"': 2 }, 3, [0.5], 7),
      measured({ a: 10, d: 1 }, 4, [0.25, 2], 5),
    ];
    expect(sumMetrics([one, other].map((prometheus) => prometheus.text()))).toBe(
      measured({ a: 11, 'b c\n"': 2, d: 1 }, 7, [0.5, 0.25, 2], 7).text(),
    );
  });

  it("says of one process what that says", () => {
    const text = measured({ a: 1 }, 3, [0.5], 7).text();
    expect(sumMetrics([text])).toBe(text);
    expect(sumMetrics([])).toBe("");
  });
});

describe("countsOf()", () => {
  it("is what goes on counting after a process has ended", () => {
    const text = countsOf(measured({ a: 1 }, 3, [0.5], 7).text());
    expect(text.split("\n").filter((line) => line.startsWith("# TYPE"))).toEqual([
      "# TYPE pushes counter",
      "# TYPE seconds histogram",
    ]);
    expect(sumMetrics([text, text])).toContain('pushes{type="a"} 2\n');
  });
});
