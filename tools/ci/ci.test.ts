import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { countStage, printFailures, readStages } from "./stages.ts";
import { type SuiteResult, printSuites, programs, readSuites } from "./suites.ts";

function useFolder(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "xdstp-ci-"));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

const result = (program: string, more: Partial<SuiteResult> = {}): SuiteResult => ({
  program,
  version: "1",
  suite: "s",
  passed: 1,
  failed: 0,
  notRun: 0,
  ...more,
});

describe("readSuites()", () => {
  it("reads objects and lists, and says of a program without a result that it has not run", () => {
    const folder = useFolder({
      "a.json": JSON.stringify(result("envoy")),
      "b.json": JSON.stringify([result("grpcio"), result("grpcio", { suite: "t" })]),
      "c.txt": "no result",
    });
    const read = readSuites(folder);
    expect(read.map(({ program, suite, notRun }) => [program, suite, notRun])).toEqual([
      ["envoy", "s", 0],
      ["grpcio", "s", 0],
      ["grpcio", "t", 0],
      ["grpc-js-xds", "all", 1],
      ["grpc-go", "all", 1],
      ["grpc-java", "all", 1],
      ["go-control-plane", "all", 1],
      ["protoc-gen-validate", "all", 1],
      ["chromium", "all", 1],
      ["nginx", "all", 1],
      ["varnish", "all", 1],
      ["bun", "all", 1],
      ["deno", "all", 1],
      ["workerd", "all", 1],
    ]);
  });

  it("says of every program that it has not run when there is no folder", () => {
    expect(readSuites(join(useFolder({}), "none")).map(({ program }) => program)).toEqual(programs);
  });
});

describe("printSuites()", () => {
  it("sums by program and names the suites that did not pass, with the reason", () => {
    expect(
      printSuites([
        result("envoy", { passed: 3 }),
        result("envoy", { suite: "t", failed: 2, reason: "no traffic" }),
      ]),
    ).toBe(
      [
        "program  version  suites  passed  failed  not run",
        "envoy    1        2       4       2       0",
        "envoy, t: no traffic",
      ].join("\n"),
    );
  });
});

describe("readStages()", () => {
  it("reads the stages, with the tests of those that ran some", () => {
    const folder = useFolder({
      "stages.tsv": "npm test\t0\t12\ngates\t1\t3\n",
      "npm test.tests.json": '{"passed":5,"failed":0}',
    });
    expect(readStages(folder)).toEqual([
      { name: "npm test", code: 0, seconds: 12, tests: { passed: 5, failed: 0 } },
      { name: "gates", code: 1, seconds: 3, end: "" },
    ]);
  });

  it("keeps the end of what a stage printed that failed although no test did", () => {
    const lines = Array.from({ length: 60 }, (_, nth) => `line ${String(nth)}`);
    const [stage] = readStages(
      useFolder({
        "stages.tsv": "quarter size\t124\t1800\n",
        "quarter size.log": `${lines.join("\n")}\n`,
      }),
    );
    expect(stage?.end).toBe(lines.slice(20).join("\n"));
    expect(printFailures(stage === undefined ? [] : [stage])).toContain(
      "quarter size ended with\n    line 20\n",
    );
  });
});

describe("countStage()", () => {
  it.each([
    ["a stage without tests is one", { code: 0 }, { passed: 1, failed: 0 }],
    ["a failed one is one failure", { code: 1 }, { passed: 0, failed: 1 }],
    [
      "tests are counted one by one",
      { code: 1, tests: { passed: 5, failed: 2 } },
      { passed: 5, failed: 2 },
    ],
    [
      "a failure outside of its tests is not lost",
      { code: 1, tests: { passed: 5, failed: 0 } },
      { passed: 5, failed: 1 },
    ],
  ])("%s", (_, stage, expected) => {
    expect(countStage({ name: "", seconds: 0, ...stage })).toEqual(expected);
  });
});

describe("printFailures()", () => {
  it("says of each stage what failed in it", () => {
    const stage = {
      code: 1,
      seconds: 1,
      tests: {
        passed: 1,
        failed: 1,
        failures: [{ test: "a > b", message: "expected 1\nfound 2" }],
      },
    };
    expect(
      printFailures([
        { name: "npm test", ...stage },
        { name: "gates", code: 0, seconds: 1 },
      ]),
    ).toBe("npm test: a > b\n    expected 1\n    found 2\n");
  });
});
