// pnpm mutate [--package NAME ...] [--file TEXT ...] [--sample SHARE] [--seed TEXT] [--minutes N] [--concurrency N]: changes the sources in small ways and asks whether a test notices.
// Exit 1 when less than 80 % of the mutants of a package are killed. Stryker does the work, in a copy of the checkout.
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { root } from "../lib/root.ts";
import { runProgram } from "../lib/run-program.ts";
import { readWorkspace } from "../lib/workspace.ts";
import { copyCheckout } from "./copy-checkout.ts";
import { resultLog } from "./result-log.ts";
import { type SourceFile, sampleFiles } from "./sample-files.ts";
import { strykerConfig, vitestConfig } from "./stryker-config.ts";
import { type MutationSummary, summarise, type TestedMutant } from "./summary.ts";
import { targets } from "./targets.ts";

const threshold = 80;
const stryker = join(root, "node_modules/@stryker-mutator/core/bin/stryker.js");

const { values } = parseArgs({
  options: {
    package: { type: "string", multiple: true, default: Object.keys(targets) },
    file: { type: "string", multiple: true, default: [""] },
    sample: { type: "string", default: "0.25" },
    seed: { type: "string", default: new Date().toISOString().slice(0, 10) },
    minutes: { type: "string", default: "15" },
    concurrency: { type: "string", default: "2" },
  },
});

const unknown = values.package.filter((name) => !(name in targets));
const share = Number(values.sample);
const concurrency = Number(values.concurrency);
if (unknown.length > 0 || !(share > 0 && share <= 1) || !(Number(values.minutes) > 0) || !(Number.isInteger(concurrency) && concurrency > 0)) {
  console.error([
    "usage: pnpm mutate [--package NAME ...] [--file TEXT ...] [--sample SHARE] [--seed TEXT] [--minutes N] [--concurrency N]",
    `NAME is one of ${Object.keys(targets).join(", ")}; only files with a TEXT in their path; SHARE of their lines, above 0 and at most 1; N minutes at most per package; N mutants at a time`,
  ].join("\n"));
  process.exitCode = 2;
} else {
  console.log(`share ${values.sample} of the lines, seed ${values.seed}, at most ${values.minutes} minutes per package`);
  const copy = copyCheckout(root, readWorkspace(root));
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => { stop.abort(); });
  for (const name of values.package) if (!stop.signal.aborted) await mutate(copy, name, stop.signal);
  rmSync(copy, { recursive: true, force: true });
}

async function mutate(copy: string, name: string, signal: AbortSignal): Promise<void> {
  const files = sampleFiles(sourcesOf(copy, name), share, values.seed);
  if (files.length === 0) return;
  const sources = new Map(files.map((file) => [file, readFileSync(join(copy, file), "utf8")]));
  writeFileSync(join(copy, "mutate.vitest.config.ts"), vitestConfig(targets[name] ?? []));
  writeFileSync(join(copy, "stryker.config.json"), JSON.stringify(strykerConfig({ files, concurrency })));
  writeFileSync(join(copy, resultLog), "");
  // Random tests are as large as in `npm test`, and the same for each mutant and in each run of a seed.
  const env = { XDSTP_SEED: process.env.XDSTP_SEED ?? "1" };
  // Not through node_modules/.bin: the shell there would end at a signal, and leave Stryker running.
  const code = await runProgram(process.execPath, [stryker, "run"], { cwd: copy, env, timeoutMs: Number(values.minutes) * 60_000, signal });
  const mutants = readFileSync(join(copy, resultLog), "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line) as TestedMutant);
  const tested = mutants.map((mutant) => ({ ...mutant, fileName: relative(copy, resolve(copy, mutant.fileName)).replaceAll("\\", "/") }));
  show(name, summarise(tested, (file) => sources.get(file) ?? ""), code === 0);
}

function sourcesOf(copy: string, name: string): readonly SourceFile[] {
  const folder = `packages/${name}/src`;
  const paths = readdirSync(join(copy, folder), { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts") && !/(?:\.test(?:-d)?|^index|[/\\]index)\.ts$/.test(path) && values.file.some((text) => path.includes(text)));
  return paths.map((path) => ({ path: `${folder}/${path.replaceAll("\\", "/")}`, lines: readFileSync(join(copy, folder, path), "utf8").split("\n").length }));
}

function show(name: string, { killed, timedOut, survived, score, survivors }: MutationSummary, isWhole: boolean): void {
  for (const mutant of timedOut) console.log(`  out of time: ${mutant}`);
  for (const survivor of survivors) console.log(`  survived: ${survivor}`);
  const figure = `${score.toFixed(1)} % of ${String(killed + survived)} mutants killed (${String(timedOut.length)} by time), ${String(survived)} survived`;
  if (isWhole) console.log(`${name}: ${figure}\n`);
  else console.error(`${name}: ${figure}, before the run failed, was stopped or had taken ${values.minutes} minutes; take a smaller --sample or more --minutes\n`);
  if (!isWhole || score < threshold) process.exitCode = 1;
}
