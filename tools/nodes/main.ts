// node tools/nodes/main.ts MAJOR...: the tests of the public packages on the newest Node of each of these major versions, as many packages at a time as there are cores. Exit 1 after a failure.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism, tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { type Failure, readFailures } from "../lib/read-failures.ts";
import { root } from "../lib/root.ts";
import { runProgram } from "../lib/run-program.ts";
import { readWorkspace, type WorkspacePackage } from "../lib/workspace.ts";
import { installNode } from "./install-node.ts";
import { type NodeResult, printResults, resultOf, sum, type VitestReport } from "./test-results.ts";

const failures: Failure[] = [];
const majors = process.argv.slice(2);
/**
 * Packages that take minutes and compute: they use no part of Node that differs between versions. The
 * same code also runs in the tests of the packages below and above them, which are cheap.
 */
const sameOnEachNode = new Set(["@xdstp/federation", "@xdstp/plan", "@xdstp/schema"]);
const tested = readWorkspace(root).filter(
  ({ name, isPublic }) => isPublic && !sameOnEachNode.has(name),
);

if (majors.length === 0 || majors.some((major) => !/^\d+$/.test(major))) {
  console.error(
    "usage: node tools/nodes/main.ts MAJOR...   for example: node tools/nodes/main.ts 22 26",
  );
  process.exitCode = 2;
} else {
  const folder = mkdtempSync(join(tmpdir(), "xdstp-nodes-"));
  // Some tests run the command as another user.
  chmodSync(folder, 0o755);
  process.on("exit", () => {
    rmSync(folder, { recursive: true, force: true });
  });
  const tasks = majors.flatMap((major) => tasksOn(installNode(major, join(folder, major)), folder));
  const results: NodeResult[] = [];
  const next = tasks.entries();
  const work = async (): Promise<void> => {
    for (const [place, task] of next) results[place] = await task();
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  finish(results);
}

/** The tests of each package on one Node. */
function tasksOn(node: string, folder: string): readonly (() => Promise<NodeResult>)[] {
  const version = spawnSync(node, ["--version"], { encoding: "utf8" }).stdout.trim();
  return tested.map(
    (tests, index) => async () =>
      testPackage(node, version, tests, join(folder, `${version}-${String(index)}.json`)),
  );
}

async function testPackage(
  node: string,
  version: string,
  { name, folder }: WorkspacePackage,
  report: string,
): Promise<NodeResult> {
  console.log(`\nnode ${version}, ${name}`);
  const env = { PATH: [dirname(node), process.env.PATH].join(delimiter) };
  // Vitest is resolved from each package, since packages with different peers have different copies.
  const vitest = join(
    dirname(createRequire(join(folder, "package.json")).resolve("vitest/package.json")),
    "vitest.mjs",
  );
  await runProgram(
    node,
    [vitest, "run", "--reporter=dot", "--reporter=json", `--outputFile.json=${report}`],
    { cwd: folder, env },
  );
  failures.push(...readFailures(`node ${version}, ${name}`, report));
  return resultOf(
    version,
    name,
    existsSync(report) ? (JSON.parse(readFileSync(report, "utf8")) as VitestReport) : undefined,
  );
}

function finish(results: readonly NodeResult[]): void {
  const [passed, failed] = [sum(results, "passed"), sum(results, "failed")];
  console.log(`\n${printResults(results)}`);
  // `.ci/run` counts the tests in this file.
  mkdirSync(join(root, "reports"), { recursive: true });
  writeFileSync(
    join(root, "reports", "tests.json"),
    JSON.stringify({ passed, failed, skipped: 0, failures }),
  );
  process.exitCode = failed === 0 && results.every((result) => result.passed > 0) ? 0 : 1;
}
