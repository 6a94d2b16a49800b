// npm run all: every gate. Each one runs, whatever became of those before it; the table at the end says which failed.
import { root } from "../lib/root.ts";
import { runProgram } from "../lib/run-program.ts";
import { checkChangesets } from "./check-changesets.ts";
import { checkDocumented } from "./check-documented.ts";
import { checkLayers } from "./check-layers.ts";
import { checkLockfile } from "./check-lockfile.ts";
import { checkManifests } from "./check-manifests.ts";

/** A gate gives true when it holds, and has said why when it does not. */
type Gate = () => boolean | Promise<boolean>;

const program = async (command: string, ...args: readonly string[]): Promise<boolean> =>
  (await runProgram(command, args)) === 0;
const turbo =
  (...tasks: readonly string[]): Gate =>
  async () =>
    program("turbo", "run", ...tasks, "--continue");

const gates: Readonly<Record<string, Gate>> = {
  "protos are well formed": async () =>
    (await program("buf", "lint")) && program("buf", "format", "--exit-code", "--diff"),
  "protos break nothing released": async () =>
    program("buf", "breaking", "--against", "proto/released.binpb.gz"),
  "generated code is what the protos say": async () =>
    program("node", "tools/generate.mjs", "--check"),
  formatted: async () => program("prettier", "--check", "--log-level", "warn", "."),
  // One process checks or lints all packages in a fraction of the time of one for each, which reads the types of all below it again.
  "build, typecheck, lint": turbo("build", "//#typecheck:all", "//#lint:all"),
  test: async () => program("node", "tools/gates/test.ts"),
  "API reports, publint, attw": turbo("api", "publint", "attw"),
  documented: () => checkDocumented(root),
  "documents, links": async () => program("node", "tools/docs/main.ts"),
  rules: async () => program("node", "tools/rules/main.ts", "--problems"),
  "import cycles, phrases": async () => program("node", "tools/measure/main.ts", "--check"),
  layers: () => checkLayers(root),
  lockfile: () => checkLockfile(root),
  manifests: () => checkManifests(root),
  changesets: () => checkChangesets(root),
};

const results: string[] = [];
for (const [name, gate] of Object.entries(gates)) {
  console.log(`\n== ${name}`);
  const started = performance.now();
  const holds = await gate();
  if (!holds) process.exitCode = 1;
  results.push(
    `${holds ? "ok    " : "FAILED"}  ${((performance.now() - started) / 1000).toFixed(1).padStart(6)} s  ${name}`,
  );
}
console.log(`\n${results.join("\n")}`);
