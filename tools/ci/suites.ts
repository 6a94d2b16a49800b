import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** The result of one suite with a foreign program, in the form that packages/real-clients writes to `reports/suites/*.json`: one object or a list of them in each file. */
export interface SuiteResult {
  /** One of {@link programs}, or another name. */
  readonly program: string;
  /** As the program states it; empty where it could not be asked. */
  readonly version: string;
  readonly suite: string;
  readonly passed: number;
  readonly failed: number;
  readonly notRun: number;
  /** Why something was not run or failed. */
  readonly reason?: string;
}

/** The programs that CI installs: one that left no result has not run, and that is a failure. */
export const programs: readonly string[] = [
  "envoy",
  "grpcio",
  "grpc-js-xds",
  "grpc-go",
  "grpc-java",
  "go-control-plane",
  "protoc-gen-validate",
  "chromium",
  "nginx",
  "varnish",
  "bun",
  "deno",
  "workerd",
];

/** Reads every result in a folder; none when it does not exist. A program without a result gets one that says so. */
export function readSuites(folder: string): readonly SuiteResult[] {
  const files = existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => name.endsWith(".json"))
        .sort()
    : [];
  const found = files.flatMap((name) =>
    [
      JSON.parse(readFileSync(join(folder, name), "utf8")) as SuiteResult | readonly SuiteResult[],
    ].flat(),
  );
  const absent = programs.filter((program) => !found.some((result) => result.program === program));
  return [
    ...found,
    ...absent.map((program) => ({
      program,
      version: "",
      suite: "all",
      passed: 0,
      failed: 0,
      notRun: 1,
      reason: "left no result",
    })),
  ];
}

/** The results as a table, a row for each program and version, and below it the suites that did not wholly pass. */
export function printSuites(results: readonly SuiteResult[]): string {
  const groups = Map.groupBy(results, ({ program, version }) => `${program}\n${version}`);
  const rows = [...groups.values()].map((group) => [
    group[0]?.program ?? "",
    group[0]?.version ?? "",
    String(group.length),
    ...[sum(group, "passed"), sum(group, "failed"), sum(group, "notRun")].map(String),
  ]);
  const bad = results.filter(({ failed, notRun }) => failed + notRun > 0);
  return [
    ...table([["program", "version", "suites", "passed", "failed", "not run"], ...rows]),
    ...bad.map(
      ({ program, suite, reason }) => `${program}, ${suite}: ${reason ?? "no reason given"}`,
    ),
  ].join("\n");
}

/** The sum of one count. */
export function sum(
  results: readonly SuiteResult[],
  count: "passed" | "failed" | "notRun",
): number {
  return results.reduce((total, result) => total + result[count], 0);
}

/** Columns of equal width. */
export function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
