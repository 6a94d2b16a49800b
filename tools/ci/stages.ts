import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Failure } from "../lib/read-failures.ts";

/** One stage of `.ci/run`. */
export interface Stage {
  readonly name: string;
  /** Exit code. */
  readonly code: number;
  readonly seconds: number;
  /** The counts of the tests that it ran. Absent: it ran none. */
  readonly tests?: {
    readonly passed: number;
    readonly failed: number;
    readonly failures?: readonly Failure[];
  };
  /** The end of its output. Absent: it passed, or a test of it failed. */
  readonly end?: string;
}

/** Lines that are shown of a stage that failed and names no test. */
const END_LINES = 40;

/** Reads what `.ci/run` has noted in its working folder. */
export function readStages(folder: string): readonly Stage[] {
  const lines = readFileSync(join(folder, "stages.tsv"), "utf8")
    .split("\n")
    .filter((line) => line !== "");
  return lines.map((line) => {
    const [name = "", code, seconds] = line.split("\t");
    const tests = join(folder, `${name}.tests.json`);
    const counted = existsSync(tests)
      ? { tests: JSON.parse(readFileSync(tests, "utf8")) as NonNullable<Stage["tests"]> }
      : {};
    const isExplained = Number(code) === 0 || (counted.tests?.failures ?? []).length > 0;
    const end = isExplained ? {} : { end: endOf(join(folder, `${name}.log`)) };
    return { name, code: Number(code), seconds: Number(seconds), ...counted, ...end };
  });
}

function endOf(log: string): string {
  return existsSync(log)
    ? readFileSync(log, "utf8").trimEnd().split("\n").slice(-END_LINES).join("\n")
    : "";
}

/** Returns the counts that a stage adds to the sums: those of its tests, or one for itself if it has no tests. A stage that failed although no test did counts as one failure. */
export function countStage({ code, tests }: Stage): {
  readonly passed: number;
  readonly failed: number;
} {
  const passed = tests?.passed ?? (code === 0 ? 1 : 0);
  return { passed, failed: Math.max(tests?.failed ?? 0, code === 0 ? 0 : 1) };
}

/** Prints the failures of each stage, for readers that see only the end of the output. */
export function printFailures(stages: readonly Stage[]): string {
  return stages
    .flatMap(({ name, tests, end }) => [
      ...(tests?.failures ?? []).map(({ test, message }) =>
        printFailure(`${name}: ${test}`, message),
      ),
      ...(end === undefined ? [] : [printFailure(`${name} ended with`, end)]),
    ])
    .join("\n");
}

function printFailure(title: string, text: string): string {
  return `${title}\n${text.replace(/^/gmu, "    ")}\n`;
}
