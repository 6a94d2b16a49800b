import { describe, expect, it } from "vitest";

import { describeFailure, runScenario, type SeedResult } from "../../run-scenario.ts";
import { failedSeeds } from "./failed-seeds.ts";
import {
  emptyOnFailure,
  goBack,
  loseAnswers,
  type PollsDefect,
  pollTwice,
} from "./polls-defects.ts";
import { pollsInvariants, pollsScenario, type PollsWorldOptions } from "./polls-world.ts";

/** The same ones in each run, as long as some seeds show known defects (../../main.ts). */
const firstSeed = Number(process.env.XDSTP_SIMULATION_SEED ?? 777);
const count = 4;

async function run(options: PollsWorldOptions, steps: number): Promise<SeedResult> {
  return runScenario(options.seed, pollsScenario(options), steps);
}

function expectGreen({ seed, failure }: SeedResult): void {
  expect(failure === undefined ? undefined : describeFailure(seed, failure)).toBeUndefined();
}

describe("clients that poll over REST, of an origin with replicas", () => {
  it(`never go back, lose nothing, and keep what they have while the origin is down (${count} seeds) [S-REST-1] [S-REST-3] [S-REST-4] [C-REST-6] [C-REST-7]`, async () => {
    console.log(`simulation of polls: seeds from ${firstSeed} on`);
    for (let seed = firstSeed; seed < firstSeed + count; seed++)
      expectGreen(await run({ seed }, 10_000));
  });

  it.each(failedSeeds)("no longer: $showed (seed $seed)", async ({ seed, steps }) => {
    expectGreen(await run({ seed }, steps));
  });

  it("do the same each time with the same seed", async () => {
    const traceOf = async (seed: number): Promise<readonly string[]> => {
      const trace: string[] = [];
      await run({ seed, onAnswer: (line) => trace.push(line) }, 2_000);
      return trace;
    };
    const first = await traceOf(11);
    expect(first.length).toBeGreaterThan(100);
    expect(await traceOf(11)).toEqual(first);
    expect(await traceOf(12)).not.toEqual(first);
  });
});

describe("defects of clients that poll over REST that are turned on", () => {
  const defects: readonly (readonly [what: string, defect: PollsDefect, invariant: string])[] = [
    ["a process that goes back", goBack, pollsInvariants.neverBack],
    ["a failure that removes", emptyOnFailure, pollsInvariants.lastGoodState],
    ["a removal that is lost", loseAnswers, pollsInvariants.removalIsSeen],
    ["a change that is lost", loseAnswers, pollsInvariants.nothingIsLost],
    ["a poll that is sent twice", pollTwice, pollsInvariants.onePoll],
  ];
  it.each(defects)(
    "%s makes a seed red, and the shortest history is short",
    async (_, defect, invariant) => {
      for (let seed = 1; seed <= 20; seed++) {
        const { failure } = await run({ seed, defect }, 10_000);
        if (failure?.violation.invariant !== invariant) continue;
        console.log(describeFailure(seed, failure));
        expect(failure.history.length).toBeLessThan(40);
        return;
      }
      expect.unreachable("twenty seeds are green");
    },
  );
});
