import { createSeededRandom, shrinkHistory } from "@xdstp/testing";

import { describeAction, type Action, type Deed } from "./action.ts";
import { createRandomActions } from "./random-actions.ts";
import { runHistory } from "./run-history.ts";
import type { Violation } from "./violation.ts";
import { createWorld, type WorldOptions } from "./world.ts";

/** The result of a seed. */
export interface SeedResult {
  readonly seed: number;
  readonly steps: number;
  readonly ms: number;
  readonly failure: SeedFailure | undefined;
}

/** The violation of a seed, and the shortest history that shows it. */
export interface SeedFailure {
  readonly violation: Violation;
  readonly history: readonly Action[];
}

/** Milliseconds after which a failure is shown by the shortest history that was found so far. */
const SHORTEN = 120_000;

/** Runs one world for a number of steps. If an invariant breaks, the result has the shortest history that shows it. */
export async function runSeed(options: WorldOptions, steps: number): Promise<SeedResult> {
  const { seed } = options;
  const started = performance.now();
  const world = createWorld(options);
  const actions = createRandomActions(createSeededRandom(seed).fork(3), world.shape);
  const rounds: (readonly Action[])[] = [];
  while (world.steps < steps && world.violation === undefined) {
    const round = actions.round();
    rounds.push(round);
    await world.run(round);
  }
  const { violation } = world;
  const made = world.steps;
  const ms = performance.now() - started;
  world.close();
  return {
    seed,
    steps: made,
    ms,
    failure: violation === undefined ? undefined : await shorten(options, rounds, violation),
  };
}

/** The last rounds first, then more of them: most failures do not need what was long ago. */
async function shorten(
  options: WorldOptions,
  rounds: readonly (readonly Action[])[],
  violation: Violation,
): Promise<SeedFailure> {
  const found = { violation };
  const end = performance.now() + SHORTEN;
  const fails = async (history: readonly Action[]): Promise<boolean> => {
    if (performance.now() > end) return false;
    const result = await runHistory(options, history);
    if (result.violation?.invariant !== violation.invariant) return false;
    found.violation = result.violation;
    return true;
  };
  for (let count = 1; ; count *= 4) {
    const history = rounds.slice(-count).flat();
    if (await fails(history)) {
      const shortest = await shrinkHistory(timed(history), async (some) => fails(untimed(some)), {
        simpler,
      });
      return { ...found, history: untimed(shortest) };
    }
    if (count >= rounds.length || performance.now() > end)
      return { violation, history: history.slice(-20) };
  }
}

/** A deed at its time: what is left out moves nothing else. */
interface TimedDeed {
  readonly at: number;
  readonly deed: Deed;
}

function timed(history: readonly Action[]): readonly TimedDeed[] {
  let at = 0;
  return history.map(({ waitMs, deed }) => ({ at: (at += waitMs), deed }));
}

function untimed(deeds: readonly TimedDeed[]): readonly Action[] {
  return deeds.map(({ at, deed }, index) => ({ waitMs: at - (deeds[index - 1]?.at ?? 0), deed }));
}

/** Transactions of fewer changes. */
function simpler({ at, deed }: TimedDeed): readonly TimedDeed[] {
  if (deed.kind !== "commit" || deed.changes.length < 2) return [];
  return deed.changes.map((_, index) => ({
    at,
    deed: { ...deed, changes: deed.changes.toSpliced(index, 1) },
  }));
}

/** Lines for people: what does not hold, and after what. */
export function describeFailure(seed: number, { violation, history }: SeedFailure): string {
  const rest = history.at(-1)?.deed.kind === "rest" ? [] : ["              then a rest"];
  return [
    `seed ${seed}: it does not hold that ${violation.invariant}`,
    ...violation.text.split("\n").map((line) => `  ${line}`),
    `  after ${history.length} deeds:`,
    ...history.map(describeAction),
    ...rest,
  ].join("\n");
}
