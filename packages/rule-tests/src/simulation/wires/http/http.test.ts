import { describe, expect, it } from "vitest";

import { describeFailure, runScenario, type SeedResult } from "../../run-scenario.ts";
import { failedSeeds } from "./failed-seeds.ts";
import {
  dropOnFailure,
  forgetOrder,
  type HttpDefect,
  keepRemoved,
  loseChanges,
  pollTwice,
  pollWithoutPause,
} from "./http-defects.ts";
import { httpScenario, httpInvariants, type HttpWorldOptions } from "./http-world.ts";

/** The same ones in each run, as long as some seeds show known defects (../../main.ts). */
const firstSeed = Number(process.env.XDSTP_SIMULATION_SEED ?? 777);
const count = 4;

async function run(options: HttpWorldOptions, steps: number): Promise<SeedResult> {
  return runScenario(options.seed, httpScenario(options), steps);
}

function expectGreen({ seed, failure }: SeedResult): void {
  expect(failure === undefined ? undefined : describeFailure(seed, failure)).toBeUndefined();
}

describe("clients of native HTTP behind caches, of an origin with replicas", () => {
  it(`never go back, lose nothing, and keep what they have while the origin is down (${count} seeds) [S-HTTP-9] [S-HTTP-14] [C-HTTP-7] [C-HTTP-11] [B-HTTP-8]`, async () => {
    console.log(`simulation of HTTP: seeds from ${firstSeed} on`);
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

describe("defects of clients of native HTTP that are turned on", () => {
  const defects: readonly (readonly [what: string, defect: HttpDefect, invariant: string])[] = [
    ["answers without an order", forgetOrder, httpInvariants.neverBack],
    ["a failure that removes", dropOnFailure, httpInvariants.lastGoodState],
    ["a removal that is a failure", keepRemoved, httpInvariants.removalIsSeen],
    ["a change that is lost", loseChanges, httpInvariants.nothingIsLost],
    ["a poll that is sent twice", pollTwice, httpInvariants.onePoll],
    ["a poll without a pause", pollWithoutPause, httpInvariants.pace],
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
