import { createSeededRandom } from "@xdstp/testing";

import { describeDeed, type Action, type Deed } from "./action.ts";
import { createRandomActions } from "./random-actions.ts";
import {
  runScenario,
  runSteps,
  type RunResult,
  type Scenario,
  type SeedResult,
} from "./run-scenario.ts";
import { createWorld, type WorldOptions } from "./world.ts";
import { createShape } from "./world-shape.ts";

/** Runs one world of servers and clients for a number of steps. If an invariant breaks, the result has the shortest history that shows it. */
export async function runSeed(options: WorldOptions, steps: number): Promise<SeedResult> {
  return runScenario(options.seed, scenarioOf(options), steps);
}

/** Runs a history in a world of its own, and a rest behind it. */
export async function runHistory(
  options: WorldOptions,
  history: readonly Action[],
): Promise<RunResult> {
  return runSteps(scenarioOf(options), history);
}

function scenarioOf(options: WorldOptions): Scenario<Deed> {
  const random = createSeededRandom(options.seed);
  return {
    createWorld: () => createWorld(options),
    createRounds: () => {
      const shape = createShape(random.fork(1), options.relays);
      const actions = createRandomActions(random.fork(3), shape);
      return () => actions.round();
    },
    rest: { kind: "rest" },
    describe: describeDeed,
    simpler,
  };
}

/** Transactions of fewer changes. */
function simpler(deed: Deed): readonly Deed[] {
  if (deed.kind !== "commit" || deed.changes.length < 2) return [];
  return deed.changes.map((_, index) => ({ ...deed, changes: deed.changes.toSpliced(index, 1) }));
}
