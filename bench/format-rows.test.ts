import { describe, expect, test } from "vitest";
import { formatRows } from "./format-rows.ts";
import { judged, type Row } from "./row.ts";

const row: Row = { case: "a", measure: "time", unit: "us", floor: 10, xdstp: 13, ratio: 1.3 };

describe("judged()", () => {
  test("holds a ratio or a value against its target, up to the target itself", () => {
    expect(judged({ ...row, target: { of: "ratio", atMost: 1.3 } }).met).toBe(true);
    expect(judged({ ...row, target: { of: "ratio", atMost: 1.29 } }).met).toBe(false);
    expect(judged({ ...row, target: { of: "value", atMost: 12 } }).met).toBe(false);
  });

  test("says nothing where there is no target or no figure", () => {
    expect(judged(row).met).toBeUndefined();
    expect(
      judged({ case: "a", measure: "", unit: "", target: { of: "ratio", atMost: 1 } }).met,
    ).toBeUndefined();
  });
});

describe("formatRows()", () => {
  test("lines up the figures, names a case once, and puts the notes below", () => {
    const rows: Row[] = [
      judged({ ...row, connect: 100, target: { of: "ratio", atMost: 1.25 }, note: "why" }),
      judged({
        ...row,
        measure: "size",
        unit: "KB",
        xdstp: 1234.5,
        target: { of: "value", atMost: 2000 },
      }),
      { case: "b", measure: "", unit: "", note: "not run" },
    ];
    expect(formatRows(rows).split("\n")).toEqual([
      "case  measure  unit  floor       connect  xdstp  x floor  target",
      "----  -------  ----  -----  ------------  -----  -------  ---------------  ------",
      "a     time     us     10.0  100 (10.0 x)   13.0     1.30  at most 1.25 x   MISSED",
      "      size     KB     10.0                 1235     1.30  at most 2000 KB  met",
      "b",
      "",
      "a: why",
      "b: not run",
    ]);
  });
});
