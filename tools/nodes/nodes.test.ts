import { describe, expect, it } from "vitest";
import { installNode } from "./install-node.ts";
import { printResults, resultOf } from "./test-results.ts";

describe("resultOf()", () => {
  it.each([
    ["counts tests", { numPassedTests: 3, numFailedTests: 0, success: true }, [3, 0]],
    ["counts failed ones", { numPassedTests: 3, numFailedTests: 2, success: false }, [3, 2]],
    [
      "counts a failure outside of any test as one",
      { numPassedTests: 3, numFailedTests: 0, success: false },
      [3, 1],
    ],
    ["counts tests that did not start as one failure", undefined, [0, 1]],
  ] as const)("%s", (_, report, [passed, failed]) => {
    expect(resultOf("v22.0.0", "a", report)).toEqual({
      version: "v22.0.0",
      package: "a",
      passed,
      failed,
    });
  });
});

describe("printResults()", () => {
  it("gives a line per Node, and names the packages that failed or ran nothing", () => {
    const row = (
      version: string,
      name: string,
      passed: number,
      failed: number,
    ): ReturnType<typeof resultOf> => ({ version, package: name, passed, failed });
    expect(
      printResults([
        row("v22.1.0", "a", 2, 0),
        row("v22.1.0", "b", 1, 1),
        row("v26.1.0", "a", 0, 0),
      ]),
    ).toBe(
      [
        "node v22.1.0: 2 packages, 3 tests passed, 1 failed",
        "  b: 1 passed, 1 failed",
        "node v26.1.0: 1 packages, 0 tests passed, 0 failed",
        "  a: 0 passed, 0 failed",
      ].join("\n"),
    );
  });
});

describe("installNode()", () => {
  it("says what to do on a platform for which there is none", () => {
    expect(() => installNode("22", "nowhere", "plan9 mips")).toThrow(
      "no npm package holds a Node for plan9 mips: run the tests there on a Node 22 of your own",
    );
  });
});
