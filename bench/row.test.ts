import { describe, expect, it } from "vitest";
import { formatRows } from "./format-rows.ts";
import { judged, type Row } from "./row.ts";
import { median, percentile } from "./run/percentile.ts";

const row: Row = { case: "fan-out", measure: "CPU", unit: "us", floor: 20, xdstp: 24, ratio: 1.2 };

describe("judged()", () => {
  it.each([
    ["a ratio at the target", { of: "ratio", atMost: 1.2 }, true],
    ["a ratio above it", { of: "ratio", atMost: 1.19 }, false],
    ["a value at the target", { of: "value", atMost: 24 }, true],
    ["a value above it", { of: "value", atMost: 23 }, false],
  ] as const)("says of %s whether it is met", (_what, target, met) => {
    expect(judged({ ...row, target }).met).toBe(met);
  });

  it("says nothing of a row without a target or without a value", () => {
    expect(judged(row).met).toBeUndefined();
    expect(
      judged({ case: "x", measure: "y", unit: "us", target: { of: "value", atMost: 1 } }).met,
    ).toBeUndefined();
  });
});

describe("formatRows()", () => {
  it("names a case once and says what was missed", () => {
    const text = formatRows([
      judged({ ...row, target: { of: "ratio", atMost: 1 } }),
      { ...row, measure: "p99", note: "fewer clients" },
    ]);
    const lines = text.split("\n");
    expect(lines[2]).toMatch(/^fan-out +CPU +us +20\.0 +24\.0 +1\.20 +at most 1 x +MISSED$/);
    expect(lines[3]).toMatch(/^ +p99/);
    expect(lines.at(-1)).toBe("fan-out: fewer clients");
  });
});

describe("percentile()", () => {
  it("takes the value below which the share lies", () => {
    const values = Float64Array.from([5, 1, 4, 2, 3]);
    expect([0, 0.5, 0.99].map((share) => percentile(values, share))).toEqual([1, 3, 5]);
    expect(median([9, 1, 5])).toBe(5);
    expect(percentile(new Float64Array(), 0.5)).toBeNaN();
  });
});
