import { describe, expect, it } from "vitest";

import type { Defect } from "../defects/defect.ts";
import { forgetRemovals } from "../defects/forget-removals.ts";
import { lingerForEver } from "../defects/linger-for-ever.ts";
import { describeFailure, type SeedResult } from "../run-scenario.ts";
import { runSeed } from "../run-seed.ts";
import { failedSeeds } from "./failed-seeds.ts";

/** New ones in each run, as those of servers and clients; the whole size has a program of its own (../main.ts). */
const firstSeed = Number(process.env.XDSTP_SIMULATION_SEED ?? Date.now() % 1_000_000_000);
const count = 2;

function expectGreen({ seed, failure }: SeedResult): void {
  expect(failure === undefined ? undefined : describeFailure(seed, failure)).toBeUndefined();
}

describe("a chain of one to three relays in a simulated network", () => {
  it(`hands on what the origin publishes, asks for the union of what is wanted, and outlives crashes with its disk (${count} new seeds) [B-RELAY-1] [B-RELAY-3] [B-RELAY-8] [B-RELAY-9] [B-RELAY-15] [S-VER-4]`, async () => {
    console.log(`simulation of relays: seeds from ${firstSeed} on`);
    for (let seed = firstSeed; seed < firstSeed + count; seed++)
      expectGreen(await runSeed({ seed, relays: true }, 5_000));
  });

  it.each(failedSeeds)("no longer: $showed (seed $seed)", async ({ seed, steps }) => {
    expectGreen(await runSeed({ seed, relays: true }, steps));
  });
});

describe("defects of relays that are turned on", () => {
  /** Seeds before `first` are green, or take longer. */
  const defects: readonly (readonly [
    what: string,
    first: number,
    defect: Defect,
    invariant: string,
  ])[] = [
    [
      "a relay that asks on for what nobody wants",
      1,
      lingerForEver,
      "a relay asks for the union of what is wanted of it [B-RELAY-1] [B-RELAY-8]",
    ],
    [
      "a snapshot that restores what was removed",
      8,
      forgetRemovals,
      "what a relay knows to be gone does not come back with its snapshot [B-RELAY-9]",
    ],
  ];
  it.each(defects)(
    "%s makes a seed red, and the shortest history is short",
    async (_, first, defect, invariant) => {
      for (let seed = first; seed < first + 20; seed++) {
        const { failure } = await runSeed({ seed, relays: true, defect }, 5_000);
        if (failure === undefined) continue;
        expect(failure.violation.invariant).toBe(invariant);
        expect(failure.history.length).toBeLessThan(40);
        return;
      }
      expect.unreachable("twenty seeds are green");
    },
  );
});
