import { describe, expect, it } from "vitest";
import { countOutcomes } from "./suite-reporter.ts";

describe("countOutcomes()", () => {
  it("gives no reason when all have passed", () => {
    expect(countOutcomes([{ name: "a", state: "passed" }])).toEqual({
      passed: 1,
      failed: 0,
      notRun: 0,
    });
  });

  it("gives the reason of the first failure before that of what was not run", () => {
    const outcomes = [
      { name: "a", state: "skipped" },
      { name: "b", state: "failed", error: "no traffic" },
      { name: "c", state: "failed" },
      { name: "d", state: "pending" },
    ] as const;
    expect(countOutcomes(outcomes)).toEqual({
      passed: 0,
      failed: 2,
      notRun: 2,
      reason: "b: no traffic",
    });
  });

  it("says what was not run", () => {
    expect(countOutcomes([{ name: "not run: no envoy", state: "skipped" }])).toEqual({
      passed: 0,
      failed: 0,
      notRun: 1,
      reason: "not run: no envoy",
    });
  });
});
