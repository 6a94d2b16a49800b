import { shrinkHistory } from "@xdstp/testing";

import type { Violation } from "./violation.ts";

/** A deed, and the time since the one before in milliseconds. */
export interface TimedStep<Deed> {
  readonly waitMs: number;
  readonly deed: Deed;
}

/** A world that runs step by step, and the invariants that are checked. The same seed and deeds give the same world, whatever ran before in the process. */
export interface SteppedWorld<Deed> {
  /** Number of steps so far. */
  readonly steps: number;
  /** The invariant that was violated. The world does not run any further after it. */
  readonly violation: Violation | undefined;
  /** Runs the deeds in order until an invariant is violated. */
  run(history: readonly TimedStep<Deed>[]): Promise<void>;
  close(): void;
}

/** A kind of world, and what happens in it. Each deed is valid in every state of the world, so a part of a history is a history too. */
export interface Scenario<Deed extends { readonly kind: string }> {
  /** Creates a world in which nothing has happened yet. */
  readonly createWorld: () => SteppedWorld<Deed>;
  /** Returns a function that draws some deeds and a rest. */
  readonly createRounds: () => () => readonly TimedStep<Deed>[];
  /** The faults end. Afterwards every invariant of the end has to hold. */
  readonly rest: Deed;
  /** Returns a line for people. */
  readonly describe: (deed: Deed) => string;
  /** Returns simpler deeds that may replace one. Default: none. */
  readonly simpler?: (deed: Deed) => readonly Deed[];
}

/** The result of a seed. */
export interface SeedResult {
  readonly seed: number;
  readonly steps: number;
  readonly ms: number;
  readonly failure: SeedFailure | undefined;
}

/** The violation of a seed, and the shortest history that shows it, a line for each deed. */
export interface SeedFailure {
  readonly violation: Violation;
  readonly history: readonly string[];
}

/** The result of a history. */
export interface RunResult {
  readonly steps: number;
  readonly violation: Violation | undefined;
}

/** Milliseconds after which a failure is shown by the shortest history that was found so far. */
const SHORTEN = 120_000;

/** Runs one world for a number of steps. If an invariant breaks, the result has the shortest history that shows it. */
export async function runScenario<Deed extends { readonly kind: string }>(
  seed: number,
  scenario: Scenario<Deed>,
  steps: number,
): Promise<SeedResult> {
  const started = performance.now();
  const world = scenario.createWorld();
  const nextRound = scenario.createRounds();
  const rounds: (readonly TimedStep<Deed>[])[] = [];
  while (world.steps < steps && world.violation === undefined) {
    const round = nextRound();
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
    failure: violation === undefined ? undefined : await shorten(scenario, rounds, violation),
  };
}

/** Runs a history in a world of its own, and a rest behind it. */
export async function runSteps<Deed extends { readonly kind: string }>(
  { createWorld, rest }: Scenario<Deed>,
  history: readonly TimedStep<Deed>[],
): Promise<RunResult> {
  const world = createWorld();
  await world.run(history);
  if (world.violation === undefined && history.at(-1)?.deed.kind !== rest.kind)
    await world.run([{ waitMs: 0, deed: rest }]);
  const { steps, violation } = world;
  world.close();
  return { steps, violation };
}

/** The last rounds first, then more of them: most failures do not need what was long ago. */
async function shorten<Deed extends { readonly kind: string }>(
  scenario: Scenario<Deed>,
  rounds: readonly (readonly TimedStep<Deed>[])[],
  violation: Violation,
): Promise<SeedFailure> {
  const found = { violation };
  const end = performance.now() + SHORTEN;
  const describe = (history: readonly TimedStep<Deed>[]): readonly string[] => [
    ...history.map(
      ({ waitMs, deed }) => `${`+${waitMs} ms`.padStart(12)}  ${scenario.describe(deed)}`,
    ),
    ...(history.at(-1)?.deed.kind === scenario.rest.kind ? [] : ["              then a rest"]),
  ];
  const fails = async (history: readonly TimedStep<Deed>[]): Promise<boolean> => {
    if (performance.now() > end) return false;
    const result = await runSteps(scenario, history);
    if (result.violation?.invariant !== violation.invariant) return false;
    found.violation = result.violation;
    return true;
  };
  const simpler = ({ at, deed }: DatedDeed<Deed>): readonly DatedDeed<Deed>[] =>
    (scenario.simpler?.(deed) ?? []).map((other) => ({ at, deed: other }));
  for (let count = 1; ; count *= 4) {
    const history = rounds.slice(-count).flat();
    if (await fails(history)) {
      const shortest = await shrinkHistory(dated(history), async (some) => fails(undated(some)), {
        simpler,
      });
      return { ...found, history: describe(undated(shortest)) };
    }
    if (count >= rounds.length || performance.now() > end)
      return { violation, history: describe(history.slice(-20)) };
  }
}

/** A deed at its time: what is left out moves nothing else. */
interface DatedDeed<Deed> {
  readonly at: number;
  readonly deed: Deed;
}

function dated<Deed>(history: readonly TimedStep<Deed>[]): readonly DatedDeed<Deed>[] {
  let at = 0;
  return history.map(({ waitMs, deed }) => ({ at: (at += waitMs), deed }));
}

function undated<Deed>(deeds: readonly DatedDeed<Deed>[]): readonly TimedStep<Deed>[] {
  return deeds.map(({ at, deed }, index) => ({ waitMs: at - (deeds[index - 1]?.at ?? 0), deed }));
}

/** Lines for people: what does not hold, and after what. */
export function describeFailure(seed: number, { violation, history }: SeedFailure): string {
  return [
    `seed ${seed}: it does not hold that ${violation.invariant}`,
    ...violation.text.split("\n").map((line) => `  ${line}`),
    `  after ${history.length} lines of history:`,
    ...history,
  ].join("\n");
}
