import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Reporter, TestCase, TestModule, TestSuite } from "vitest/node";

/** The result of one suite with a real program. */
export interface SuiteResult {
  readonly program: string;
  /** As the program states it; empty where there is none. */
  readonly version: string;
  readonly suite: string;
  readonly passed: number;
  readonly failed: number;
  readonly notRun: number;
  /** Why something was not run or failed. */
  readonly reason?: string;
}

/** The part of a test that counts for the report. */
export type Outcome = Pick<TestCase, "name"> & {
  readonly state: ReturnType<TestCase["result"]>["state"];
  readonly error?: string;
};

/** Leaves in `folder` one file for each program, with the results of its suites. Suites that did not come to a result count as failed. */
export function createSuiteReporter(folder: string): Reporter {
  return {
    onTestRunEnd(modules) {
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder, { recursive: true });
      for (const [program, results] of Map.groupBy(
        modules.flatMap(resultsOf),
        (result) => result.program,
      )) {
        writeFileSync(
          join(folder, `${program}.json`),
          `${JSON.stringify(results, undefined, 2)}\n`,
        );
      }
    },
  };
}

function resultsOf(module: TestModule): readonly SuiteResult[] {
  const suites = [...module.children.suites()];
  if (suites.length > 0 && module.errors().length === 0) return suites.map(resultOf);
  // It broke before its tests were known.
  const reason = module.errors()[0]?.message ?? "no tests";
  const name = module.relativeModuleId.replace(/^.*\//, "");
  return [
    {
      program: name.replace(/\..*$/, ""),
      version: "",
      suite: name,
      passed: 0,
      failed: 1,
      notRun: 0,
      reason,
    },
  ];
}

function resultOf(suite: TestSuite): SuiteResult {
  const { program = suite.name, version = "", suite: name = suite.name } = suite.meta();
  return {
    program,
    version,
    suite: name,
    ...countOutcomes([...suite.children.allTests()].map(outcomeOf)),
  };
}

function outcomeOf(test: TestCase): Outcome {
  const { state, errors } = test.result();
  const error = errors?.[0]?.message;
  return { name: test.name, state, ...(error === undefined ? {} : { error }) };
}

/** The counts, and the reason of the first test that failed or was not run. */
export function countOutcomes(
  outcomes: readonly Outcome[],
): Pick<SuiteResult, "passed" | "failed" | "notRun" | "reason"> {
  const count = (state: Outcome["state"]): number =>
    outcomes.filter((outcome) => outcome.state === state).length;
  const failed = outcomes.find(({ state }) => state === "failed");
  const notRun = outcomes.find(({ state }) => state === "skipped" || state === "pending");
  const reason =
    failed === undefined ? notRun?.name : `${failed.name}: ${failed.error ?? "no reason given"}`;
  return {
    passed: count("passed"),
    failed: count("failed"),
    notRun: count("skipped") + count("pending"),
    ...(reason === undefined ? {} : { reason }),
  };
}
