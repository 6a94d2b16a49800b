// node tools/nodes/main.ts MAJOR...: the tests of every public package, and the rules, on the newest Node of each of these major versions. Exit 1 after a failure.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { type Failure, readFailures } from "../lib/read-failures.ts";
import { root } from "../lib/root.ts";
import { runProgram } from "../lib/run-program.ts";
import { readWorkspace, type WorkspacePackage } from "../lib/workspace.ts";
import { installNode } from "./install-node.ts";
import { type NodeResult, printResults, resultOf, sum, type VitestReport } from "./test-results.ts";

const failures: Failure[] = [];
const majors = process.argv.slice(2);
const tested = readWorkspace(root).filter(({ name, isPublic }) => isPublic || name === "@xdstp/rule-tests");

if (majors.length === 0 || majors.some((major) => !/^\d+$/.test(major))) {
  console.error("usage: node tools/nodes/main.ts MAJOR...   for example: node tools/nodes/main.ts 22 26");
  process.exitCode = 2;
} else {
  const folder = mkdtempSync(join(tmpdir(), "xdstp-nodes-"));
  process.on("exit", () => { rmSync(folder, { recursive: true, force: true }); });
  const results: NodeResult[] = [];
  for (const major of majors) results.push(...await testOn(installNode(major, join(folder, major)), folder));
  finish(results);
}

async function testOn(node: string, folder: string): Promise<readonly NodeResult[]> {
  const version = spawnSync(node, ["--version"], { encoding: "utf8" }).stdout.trim();
  const results: NodeResult[] = [];
  for (const tests of tested) results.push(await testPackage(node, version, tests, join(folder, "report.json")));
  return results;
}

async function testPackage(node: string, version: string, { name, folder }: WorkspacePackage, report: string): Promise<NodeResult> {
  rmSync(report, { force: true });
  console.log(`\nnode ${version}, ${name}`);
  const env = { PATH: [dirname(node), process.env.PATH].join(delimiter) };
  // Each package's own: beside another set of peers it is another copy.
  const vitest = join(dirname(createRequire(join(folder, "package.json")).resolve("vitest/package.json")), "vitest.mjs");
  await runProgram(node, [vitest, "run", "--reporter=dot", "--reporter=json", `--outputFile.json=${report}`], { cwd: folder, env });
  failures.push(...readFailures(`node ${version}, ${name}`, report));
  return resultOf(version, name, existsSync(report) ? JSON.parse(readFileSync(report, "utf8")) as VitestReport : undefined);
}

function finish(results: readonly NodeResult[]): void {
  const [passed, failed] = [sum(results, "passed"), sum(results, "failed")];
  console.log(`\n${printResults(results)}`);
  // What `.ci/run` counts.
  mkdirSync(join(root, "reports"), { recursive: true });
  writeFileSync(join(root, "reports", "tests.json"), JSON.stringify({ passed, failed, skipped: 0, failures }));
  process.exitCode = failed === 0 && results.every((result) => result.passed > 0) ? 0 : 1;
}
