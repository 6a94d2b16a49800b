import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import type { WorkspacePackage } from "../lib/workspace.ts";

/** One test of the last run of its package. */
export interface TestCase {
  /** Its package, without the scope. */
  readonly package: string;
  /** The titles around it and its own, joined. */
  readonly title: string;
  readonly status: "passed" | "failed" | "skipped";
}

/** The reports of the last runs: their tests, and the packages that have a test script but no report. */
interface TestReports {
  readonly tests: readonly TestCase[];
  readonly missing: readonly string[];
}

interface VitestReport {
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[];
      readonly title: string;
      readonly status: string;
    }[];
  }[];
}

/** Reads `reports/vitest.json` of every package that has tests. */
export function readReports(packages: readonly WorkspacePackage[]): TestReports {
  const tested = packages.filter((candidate) => candidate.scripts.includes("test"));
  const withReport = tested.filter(
    (candidate) => existsSync(reportOf(candidate)) && statSync(reportOf(candidate)).isFile(),
  );
  return {
    tests: withReport.flatMap(readReport),
    missing: tested.filter((candidate) => !withReport.includes(candidate)).map(({ name }) => name),
  };
}

function reportOf({ folder }: WorkspacePackage): string {
  return join(folder, "reports", "vitest.json");
}

function readReport(from: WorkspacePackage): readonly TestCase[] {
  const report = JSON.parse(readFileSync(reportOf(from), "utf8")) as VitestReport;
  return report.testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .map(({ ancestorTitles, title, status }) => ({
      package: basename(from.folder),
      title: [...ancestorTitles, title].filter((part) => part !== "").join(" > "),
      status: status === "passed" || status === "failed" ? status : "skipped",
    }));
}

/** Returns an error text that names the packages without a test report and how to make one. undefined: none is missing. */
export function missingReports(missing: readonly string[]): string | undefined {
  if (missing.length === 0) return undefined;
  const one = `pnpm --filter ${missing[0] ?? ""} test`;
  const many = missing.length === 1 ? "" : `, or for one package: ${one}`;
  return `no test report of ${missing.join(", ")}; make ${missing.length === 1 ? `it: ${one}` : `them: npm test${many}`}`;
}
