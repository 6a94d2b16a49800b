import { existsSync, readFileSync } from "node:fs";
import { relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { root } from "./root.ts";

/** A test, or a whole file of tests, that failed. */
export interface Failure {
  /** Package, file and title. */
  readonly test: string;
  /** The first lines of what it said, without those of other people's code. */
  readonly message: string;
}

interface VitestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

const linesKept = 12;

/** Reads the failures from vitest's JSON report of a package; none if there is no report. */
export function readFailures(packageName: string, report: string): readonly Failure[] {
  if (!existsSync(report)) return [];
  const { testResults } = JSON.parse(readFileSync(report, "utf8")) as VitestReport;
  return testResults
    .filter(({ status }) => status === "failed")
    .flatMap(({ name, message, assertionResults }) => {
      const file = `${packageName} ${relative(root, name)}`;
      const failed = assertionResults.filter(({ status }) => status === "failed");
      if (failed.length === 0) return [{ test: file, message: firstLines(message) }];
      return failed.map(({ fullName, failureMessages }) => ({
        test: `${file} > ${fullName}`,
        message: firstLines(failureMessages.join("\n")),
      }));
    });
}

function firstLines(text: string): string {
  return stripVTControlCharacters(text)
    .split("\n")
    .filter((line) => !line.includes("/node_modules/"))
    .slice(0, linesKept)
    .join("\n");
}
