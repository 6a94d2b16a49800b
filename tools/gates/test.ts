// npm test [TURBO ARGS]: every test of every package. What has not changed since it last passed comes out of turbo's cache.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readFailures } from "../lib/read-failures.ts";
import { root } from "../lib/root.ts";
import { runProgram } from "../lib/run-program.ts";
import { readWorkspace } from "../lib/workspace.ts";
import { readReports } from "../rules/test-reports.ts";

const packages = readWorkspace(root);
// A report that an earlier run left behind would be counted for a package whose tests did not even start.
for (const { folder } of packages) rmSync(join(folder, "reports", "vitest.json"), { force: true });

// Tests of programs wait much of the time, and the worker of a package uses one processor: three packages keep two processors busy.
process.exitCode = await runProgram("turbo", [
  "run",
  "test",
  "--continue",
  "--concurrency=3",
  ...process.argv.slice(2),
]);

const { tests } = readReports(packages);
const count = (status: string): number => tests.filter((test) => test.status === status).length;
const counts = { passed: count("passed"), failed: count("failed"), skipped: count("skipped") };
const failures = packages.flatMap(({ name, folder }) =>
  readFailures(name, join(folder, "reports", "vitest.json")),
);
mkdirSync(join(root, "reports"), { recursive: true });
writeFileSync(join(root, "reports", "tests.json"), JSON.stringify({ ...counts, failures }));
console.log(
  `\n${String(counts.passed)} tests passed, ${String(counts.failed)} failed, ${String(counts.skipped)} skipped`,
);
