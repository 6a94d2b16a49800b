import { describe, expect, it } from "vitest";
import { sharesOf } from "./shares.ts";

describe("sharesOf()", () => {
  it("counts answers by name, and calls that failed", () => {
    const calls = [
      { began: 0, answer: "green" },
      { began: 0, answer: "blue" },
      { began: 0, answer: "blue" },
      { began: 0, error: "no" },
    ];
    expect(sharesOf(calls)).toBe("blue 50 %, failed 25 %, green 25 %");
  });

  it("says that there is none", () => {
    expect(sharesOf([])).toBe("no answer yet");
  });
});
