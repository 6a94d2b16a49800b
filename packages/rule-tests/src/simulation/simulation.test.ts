import { createSeededRandom } from "@xdstp/testing";
import { describe, expect, it } from "vitest";

import type { Defect } from "./defects/defect.ts";
import { dropTombstonesEarly } from "./defects/drop-tombstones-early.ts";
import { keepTopics } from "./defects/keep-topics.ts";
import { loseNamesBehindStaleNonces } from "./defects/lose-names-behind-stale-nonces.ts";
import { repeatNonces } from "./defects/repeat-nonces.ts";
import { repeatRejected } from "./defects/repeat-rejected.ts";
import { failedSeeds } from "./failed-seeds.ts";
import { createRandomActions } from "./random-actions.ts";
import { describeFailure, type SeedResult } from "./run-scenario.ts";
import { runSeed } from "./run-seed.ts";
import { createWorld } from "./world.ts";

/** New ones in each run, whatever the seed of the other random tests is; the whole size has a program of its own (main.ts). */
const firstSeed = Number(process.env.XDSTP_SIMULATION_SEED ?? Date.now() % 1_000_000_000);

function expectGreen({ seed, failure }: SeedResult): void {
  expect(failure === undefined ? undefined : describeFailure(seed, failure)).toBeUndefined();
}

describe("servers and clients in one simulated network", () => {
  it.each([0, 1])(
    "keep every invariant, and end up alike when the faults end (new seed %i) [S-NONCE-1] [S-ACK-8] [S-STREAM-10]",
    async (n) => {
      console.log(`simulation: seed ${firstSeed + n}`);
      expectGreen(await runSeed({ seed: firstSeed + n }, 10_000));
    },
  );

  it.each(failedSeeds.filter(({ steps }) => steps <= 5_000))(
    "no longer: $showed (seed $seed)",
    async ({ seed, steps }) => {
      expectGreen(await runSeed({ seed }, steps));
    },
  );

  it("do the same each time with the same seed", async () => {
    const traceOf = async (seed: number): Promise<readonly string[]> => {
      const trace: string[] = [];
      const world = createWorld({
        seed,
        observer: {
          onSent: ({ id }, from) => {
            trace.push(`${world.clock.now()} ${id} ${from}`);
          },
        },
      });
      const actions = createRandomActions(createSeededRandom(seed), world.shape);
      for (let round = 0; round < 4; round++) await world.run(actions.round());
      world.close();
      return trace;
    };
    const first = await traceOf(11);
    expect(first.length).toBeGreaterThan(100);
    expect(await traceOf(11)).toEqual(first);
    expect(await traceOf(12)).not.toEqual(first);
  });
});

describe("defects that are turned on", () => {
  /** Seeds before `first` are green, or take longer. */
  const defects: readonly (readonly [
    what: string,
    first: number,
    defect: Defect,
    invariant: string,
  ])[] = [
    [
      "a name lost behind a stale nonce",
      1,
      loseNamesBehindStaleNonces,
      "when the faults end every client holds exactly what the server has",
    ],
    ["a repeated nonce", 8, repeatNonces, "a nonce is not repeated [S-NONCE-1]"],
    [
      "a tombstone that is dropped too early",
      2,
      dropTombstonesEarly,
      "no name is lost on a stream that stands",
    ],
    [
      "a rejected response that is repeated",
      1,
      repeatRejected,
      "what was rejected is not repeated unchanged [S-ACK-8]",
    ],
    [
      "a topic that is kept without anybody who wants it",
      1,
      keepTopics,
      "memory is bounded by interest [B-RELAY-10] [S-STREAM-10]",
    ],
  ];
  it.each(defects)(
    "%s makes a seed red, and the shortest history is short",
    async (_, first, defect, invariant) => {
      for (let seed = first; seed < first + 20; seed++) {
        const { failure } = await runSeed({ seed, defect }, 20_000);
        if (failure === undefined) continue;
        console.log(describeFailure(seed, failure));
        expect(failure.violation.invariant).toBe(invariant);
        expect(failure.history.length).toBeLessThan(40);
        return;
      }
      expect.unreachable("twenty seeds are green");
    },
  );
});
