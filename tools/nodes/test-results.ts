/** The part of vitest's JSON report that is read here. */
export interface VitestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly success: boolean;
}

/** The test results of one package on one version of Node. */
export interface NodeResult {
  /** As that Node states it. */
  readonly version: string;
  readonly package: string;
  readonly passed: number;
  readonly failed: number;
}

/** Counts the tests of a report. undefined: the tests did not start, which counts as one failure. A failure outside of any test counts as one as well. */
export function resultOf(
  version: string,
  name: string,
  report: VitestReport | undefined,
): NodeResult {
  if (report === undefined) return { version, package: name, passed: 0, failed: 1 };
  const { numPassedTests: passed, numFailedTests: failed, success } = report;
  return { version, package: name, passed, failed: success ? failed : Math.max(failed, 1) };
}

/** One line per Node, and one for each package that failed there or ran no test. */
export function printResults(results: readonly NodeResult[]): string {
  const byVersion = Map.groupBy(results, ({ version }) => version);
  return [...byVersion]
    .flatMap(([version, rows]) => [
      `node ${version}: ${String(rows.length)} packages, ${String(sum(rows, "passed"))} tests passed, ${String(sum(rows, "failed"))} failed`,
      ...rows
        .filter(({ passed, failed }) => failed > 0 || passed === 0)
        .map(
          (row) => `  ${row.package}: ${String(row.passed)} passed, ${String(row.failed)} failed`,
        ),
    ])
    .join("\n");
}

/** The sum of one count. */
export function sum(results: readonly NodeResult[], count: "passed" | "failed"): number {
  return results.reduce((total, result) => total + result[count], 0);
}
