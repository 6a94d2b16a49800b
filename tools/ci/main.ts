// node tools/ci/main.ts FOLDER: what .ci/run has noted there and the suites with real programs, as tables; the last line is `N passed, N failed`. Exit 1 after a failure.
import { join } from "node:path";
import { root } from "../lib/root.ts";
import { countStage, printFailures, readStages } from "./stages.ts";
import { printSuites, readSuites, sum, table } from "./suites.ts";

const stages = readStages(process.argv[2] ?? ".");
const suites = readSuites(join(root, "packages/real-clients/reports/suites"));
const counts = stages.map(countStage);

const passed = counts.reduce((total, count) => total + count.passed, sum(suites, "passed"));
// A suite whose program could be installed, and that did not run, is a failure.
const failed = counts.reduce(
  (total, count) => total + count.failed,
  sum(suites, "failed") + sum(suites, "notRun"),
);

const rows = stages.map(({ name, code, seconds }, index) => [
  name,
  code === 0 ? "ok" : `failed (${String(code)})`,
  `${String(seconds)} s`,
  String(counts[index]?.passed),
  String(counts[index]?.failed),
]);
console.log(`\n${table([["stage", "", "time", "passed", "failed"], ...rows]).join("\n")}`);
console.log(`\n${printSuites(suites)}\n`);
console.log(printFailures(stages));
console.log(`${String(passed)} passed, ${String(failed)} failed`);
process.exitCode = failed === 0 ? 0 : 1;
