// npm run mutate -- [OPTIONS]: changes the sources in small ways and asks whether a test notices.
// Exit 1 when less than 80 % of the mutants of a package are killed, 2 for wrong usage. Stryker does the work, in a copy of the checkout.
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { root } from "../lib/root.ts";
import { runProgram } from "../lib/run-program.ts";
import { readWorkspace } from "../lib/workspace.ts";
import { copyCheckout } from "./copy-checkout.ts";
import { parseOptions, usage, type MutateOptions } from "./options.ts";
import { resultLog } from "./result-log.ts";
import { type SourceFile, sampleFiles } from "./sample-files.ts";
import { strykerConfig, vitestConfig } from "./stryker-config.ts";
import { type MutationSummary, summarise, type TestedMutant } from "./summary.ts";
import { targets } from "./targets.ts";

const threshold = 80;
const stryker = join(root, "node_modules/@stryker-mutator/core/bin/stryker.js");

const options = readOptions();
if (options?.help === true) console.log(usage(Object.keys(targets)));
else if (options !== undefined) await mutateAll(options);

function readOptions(): MutateOptions | undefined {
  try {
    return parseOptions(process.argv.slice(2), Object.keys(targets));
  } catch (error) {
    console.error(
      `${error instanceof Error ? error.message : String(error)}\n${usage(Object.keys(targets))}`,
    );
    process.exitCode = 2;
    return undefined;
  }
}

async function mutateAll(chosen: MutateOptions): Promise<void> {
  console.log(
    `share ${String(chosen.share)} of the lines, seed ${chosen.seed}, at most ${String(chosen.minutes)} minutes per package`,
  );
  const copy = copyCheckout(root, readWorkspace(root));
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.on(signal, () => {
      stop.abort();
    });
  for (const name of chosen.packages)
    if (!stop.signal.aborted) await mutate(copy, name, chosen, stop.signal);
  rmSync(copy, { recursive: true, force: true });
}

async function mutate(
  copy: string,
  name: string,
  { files: texts, share, seed, minutes, concurrency }: MutateOptions,
  signal: AbortSignal,
): Promise<void> {
  const files = sampleFiles(sourcesOf(copy, name, texts), share, seed);
  if (files.length === 0) return;
  const sources = new Map(files.map((file) => [file, readFileSync(join(copy, file), "utf8")]));
  writeFileSync(join(copy, "mutate.vitest.config.ts"), vitestConfig(name));
  writeFileSync(
    join(copy, "stryker.config.json"),
    JSON.stringify(strykerConfig({ files, concurrency })),
  );
  writeFileSync(join(copy, resultLog), "");
  // Random tests are as large as in `npm test`, and the same for each mutant and in each run of a seed.
  const env = { XDSTP_SEED: process.env.XDSTP_SEED ?? "1" };
  // Not through node_modules/.bin: the shell there would end at a signal, and leave Stryker running.
  const code = await runProgram(process.execPath, [stryker, "run"], {
    cwd: copy,
    env,
    timeoutMs: minutes * 60_000,
    signal,
  });
  const mutants = readFileSync(join(copy, resultLog), "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as TestedMutant);
  const tested = mutants.map((mutant) => ({
    ...mutant,
    fileName: relative(copy, resolve(copy, mutant.fileName)).replaceAll("\\", "/"),
  }));
  show(
    name,
    summarise(tested, (file) => sources.get(file) ?? ""),
    code === 0,
    minutes,
  );
}

function sourcesOf(copy: string, name: string, texts: readonly string[]): readonly SourceFile[] {
  const folder = `packages/${name}/src`;
  const paths = readdirSync(join(copy, folder), { recursive: true, encoding: "utf8" }).filter(
    (path) =>
      path.endsWith(".ts") &&
      !/(?:\.test(?:-d)?|^index|[/\\]index)\.ts$/.test(path) &&
      texts.some((text) => path.includes(text)),
  );
  return paths.map((path) => ({
    path: `${folder}/${path.replaceAll("\\", "/")}`,
    lines: readFileSync(join(copy, folder, path), "utf8").split("\n").length,
  }));
}

function show(
  name: string,
  { killed, timedOut, survived, score, survivors }: MutationSummary,
  isWhole: boolean,
  minutes: number,
): void {
  for (const mutant of timedOut) console.log(`  out of time: ${mutant}`);
  for (const survivor of survivors) console.log(`  survived: ${survivor}`);
  const figure = `${score.toFixed(1)} % of ${String(killed + survived)} mutants killed (${String(timedOut.length)} by time), ${String(survived)} survived`;
  if (isWhole) console.log(`${name}: ${figure}\n`);
  else
    console.error(
      `${name}: ${figure}, before the run failed, was stopped or had taken ${String(minutes)} minutes; take a smaller --sample or more --minutes\n`,
    );
  if (!isWhole || score < threshold) process.exitCode = 1;
}
