import { describe, expect, it } from "vitest";

import { describeFailure, runScenario, type SeedResult } from "../../run-scenario.ts";
import { failedSeeds } from "./failed-seeds.ts";
import {
  type FilesDefect,
  leaveOpen,
  missChanges,
  readMixedFiles,
  readOldFiles,
  writeInPlace,
} from "./file-defects.ts";
import { filesInvariants, filesScenario, type FilesWorldOptions } from "./file-world.ts";

/** The same ones in each run, as long as some seeds show known defects (../../main.ts). */
const firstSeed = Number(process.env.XDSTP_SIMULATION_SEED ?? 777);
const count = 4;

async function run(options: FilesWorldOptions, steps: number): Promise<SeedResult> {
  return runScenario(options.seed, filesScenario(options), steps);
}

function expectGreen({ seed, failure }: SeedResult): void {
  expect(failure === undefined ? undefined : describeFailure(seed, failure)).toBeUndefined();
}

describe("readers of files that are exported, of a volume, and of files with one resource", () => {
  it(`never go back, lose nothing, and show states of whole files only (${count} seeds) [C-FILE-2] [C-FILE-3] [C-FILE-4] [C-FILE-5] [B-FILE-6] [C-NFILE-5] [C-NFILE-8]`, async () => {
    console.log(`simulation of files: seeds from ${firstSeed} on`);
    for (let seed = firstSeed; seed < firstSeed + count; seed++)
      expectGreen(await run({ seed }, 10_000));
  });

  it.each(failedSeeds)("no longer: $showed (seed $seed)", async ({ seed, steps }) => {
    expectGreen(await run({ seed }, steps));
  });

  it("do the same each time with the same seed", async () => {
    const traceOf = async (seed: number): Promise<readonly string[]> => {
      const trace: string[] = [];
      await run({ seed, onShown: (line) => trace.push(line) }, 2_000);
      return trace;
    };
    const first = await traceOf(11);
    expect(first.length).toBeGreaterThan(100);
    expect(await traceOf(11)).toEqual(first);
    expect(await traceOf(12)).not.toEqual(first);
  });
});

describe("defects of files that are turned on", () => {
  const defects: readonly (readonly [
    what: string,
    defect: () => FilesDefect,
    invariant: string,
  ])[] = [
    ["a reading of an old file", readOldFiles, filesInvariants.neverBack],
    ["a reading of two files", readMixedFiles, filesInvariants.lastGoodState],
    ["a removal that is missed", missChanges, filesInvariants.removalIsSeen],
    ["a change that is missed", missChanges, filesInvariants.nothingIsLost],
    ["a file that is written in its place", writeInPlace, filesInvariants.whole],
    ["a file that stays open", leaveOpen, filesInvariants.closed],
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
