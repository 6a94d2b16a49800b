import { describe, expect, it } from "vitest";
import { createPrometheusMeter } from "./prometheus-meter.ts";

describe("createPrometheusMeter()", () => {
  it("writes counters by their labels, escaped", () => {
    const prometheus = createPrometheusMeter();
    const { meter } = prometheus;
    const counter = meter.createCounter("pushes", { description: "Responses sent" });
    counter.add(1, { type: "a" });
    counter.add(2, { type: "a" });
    counter.add(1, { type: 'q"\\\n' });
    expect(prometheus.text()).toBe(
      '# HELP pushes Responses sent\n# TYPE pushes counter\npushes{type="a"} 3\npushes{type="q\\"\\\\\\n"} 1\n',
    );
  });

  it("writes histograms with cumulative buckets, their sum and count", () => {
    const prometheus = createPrometheusMeter();
    const { meter } = prometheus;
    const histogram = meter.createHistogram("seconds", {
      description: "Time",
      advice: { explicitBucketBoundaries: [0.1, 1] },
    });
    for (const value of [0.1, 0.5, 3]) histogram.record(value, { type: "a" });
    expect(prometheus.text().split("\n").slice(1, -1)).toEqual([
      "# TYPE seconds histogram",
      'seconds_bucket{type="a",le="0.1"} 1',
      'seconds_bucket{type="a",le="1"} 2',
      'seconds_bucket{type="a",le="+Inf"} 3',
      'seconds_sum{type="a"} 3.6',
      'seconds_count{type="a"} 3',
    ]);
  });

  it("reads gauges when it is asked, and no more once they are taken back", () => {
    const prometheus = createPrometheusMeter();
    const { meter } = prometheus;
    const gauge = meter.createObservableGauge("streams", { description: "Open" });
    let streams = 1;
    const read = (result: { observe(value: number): void }): void => {
      result.observe(streams);
    };
    gauge.addCallback(read);
    expect(prometheus.text()).toContain("\nstreams 1\n");
    streams = 2;
    expect(prometheus.text()).toContain("# TYPE streams gauge\nstreams 2\n");
    gauge.removeCallback(read);
    expect(prometheus.text()).toBe("# HELP streams Open\n# TYPE streams gauge\n");
  });
});
