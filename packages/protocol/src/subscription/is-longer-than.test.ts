import { describe, expect, it } from "vitest";
import { isLongerThan } from "./is-longer-than.ts";

describe("isLongerThan()", () => {
  it.each([
    ["ascii", "n".repeat(12), 12],
    ["two bytes a unit", "é".repeat(6), 12],
    ["three bytes a unit", "€".repeat(4), 12],
    ["four bytes in two units", "😀".repeat(3), 12],
    ["half a pair, written as U+FFFD", "\ud83d".repeat(4), 12],
    ["nothing", "", 0],
  ])("counts bytes of UTF-8: %s", (_, text, bytes) => {
    expect(isLongerThan(text, bytes)).toBe(false);
    expect(isLongerThan(`${text}n`, bytes)).toBe(true);
  });
});
