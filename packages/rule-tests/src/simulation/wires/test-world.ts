import { describe, expect, it } from "vitest";

import { describeFailure, runScenario, type Scenario, type SeedResult } from "../run-scenario.ts";

/** The same ones in each run, as long as some seeds show known defects (../main.ts). */
const firstSeed = Number(process.env.XDSTP_SIMULATION_SEED ?? 777);
const count = 4;

/** Options of a world that has the tests of {@link testWorld}. */
interface WorldOptions<Defect> {
  readonly seed: number;
  readonly defect?: Defect;
  /** Sees each line of what clients show. */
  readonly onLine?: (line: string) => void;
}

/** The parts in which the tests of worlds differ. */
export interface WorldTests<Deed extends { readonly kind: string }, Defect> {
  /** The clients, as the subject of the titles. */
  readonly clients: string;
  /** What they do in each history, with the rules that this shows. */
  readonly claim: { readonly text: string; readonly rules: string };
  /** Creates the scenario of a seed. */
  readonly scenario: (options: WorldOptions<Defect>) => Scenario<Deed>;
  /** Seeds that failed once. */
  readonly failedSeeds: readonly {
    readonly seed: number;
    readonly steps: number;
    readonly showed: string;
  }[];
  /** Defects that can be turned on, each with the invariant that finds it. */
  readonly defects: readonly (readonly [what: string, defect: Defect, invariant: string])[];
}

/** Declares the tests of a world: seeds are green, those that failed once too, a seed has one history, and each defect makes a seed red. */
export function testWorld<Deed extends { readonly kind: string }, Defect>({
  clients,
  claim,
  scenario,
  failedSeeds,
  defects,
}: WorldTests<Deed, Defect>): void {
  const run = async (options: WorldOptions<Defect>, steps: number): Promise<SeedResult> =>
    runScenario(options.seed, scenario(options), steps);
  const expectGreen = ({ seed, failure }: SeedResult): void => {
    expect(failure === undefined ? undefined : describeFailure(seed, failure)).toBeUndefined();
  };

  describe(clients, () => {
    it(`${claim.text} (${count} seeds) ${claim.rules}`, async () => {
      console.log(`simulation of ${clients}: seeds from ${firstSeed} on`);
      for (let seed = firstSeed; seed < firstSeed + count; seed++)
        expectGreen(await run({ seed }, 10_000));
    });

    it.each(failedSeeds)("no longer: $showed (seed $seed)", async ({ seed, steps }) => {
      expectGreen(await run({ seed }, steps));
    });

    it("do the same each time with the same seed", async () => {
      const traceOf = async (seed: number): Promise<readonly string[]> => {
        const trace: string[] = [];
        await run({ seed, onLine: (line) => trace.push(line) }, 2_000);
        return trace;
      };
      const first = await traceOf(11);
      expect(first.length).toBeGreaterThan(100);
      expect(await traceOf(11)).toEqual(first);
      expect(await traceOf(12)).not.toEqual(first);
    });

    it.each(defects)(
      "have a defect that is turned on, %s, and a seed is red with a short history",
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
}
