import { slowTests, sourceTests, targets } from "./targets.ts";

/** The settings of one run of Stryker. */
export interface StrykerRun {
  /** The mutated files, from the root of the checkout. */
  readonly files: readonly string[];
  /** Number of mutants at a time, each in a process of its own. */
  readonly concurrency: number;
}

/** Stryker's configuration. In place, because the checkout it runs in is already a copy. */
export function strykerConfig({ files, concurrency }: StrykerRun): object {
  return {
    testRunner: "vitest",
    plugins: ["@stryker-mutator/vitest-runner", "./tools/mutate/result-log.ts"],
    vitest: { configFile: "mutate.vitest.config.ts", related: false },
    mutate: files,
    inPlace: true,
    concurrency,
    // Next to one and a half times what the tests took without a mutant. Most endless loops are noticed before, by the number of their rounds.
    timeoutMS: 5_000,
    allowConsoleColors: false,
    reporters: ["result-log", "progress-append-only"],
  };
}

/**
 * The vitest configuration of the run over a package: that of every package, over the tests of several.
 * The files of one mutant share a worker, which takes a third of the time; each mutant has a new one, so nothing is left of the mutant before.
 */
export function vitestConfig(name: string): string {
  const exclude = [...sourceTests, ...(slowTests[name] ?? [])];
  const include = (targets[name] ?? []).map(
    (tested) => `packages/${tested}/{src,test}/**/*.test.ts`,
  );
  return [
    'import { ShortestFirst } from "./tools/mutate/shortest-first.ts";',
    'import shared from "./vitest.shared.ts";',
    `const test = { include: ${JSON.stringify(include)}, exclude: ${JSON.stringify(exclude)}, reporters: [["dot"]], isolate: false, sequence: { sequencer: ShortestFirst } };`,
    // The projects of the packages have tests of their own, and would run those of the whole checkout.
    "const { projects, ...sharedTest } = shared.test;",
    'export default { ...shared, cacheDir: ".mutate-cache", test: { ...sharedTest, ...test } };',
    "",
  ].join("\n");
}
