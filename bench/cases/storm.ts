import type { BenchCase } from "../bench-case.ts";
import { atMost, atMostTimes, rowsOf, type Wanted } from "../measures.ts";
import { compare } from "../run/compare.ts";
import { measureStorm, type StormMeasurement } from "../run/measure-storm.ts";
import type { Scenario } from "../scenario.ts";

const wanted: Wanted<keyof StormMeasurement> = {
  cpu: atMostTimes(1.5),
  ms: undefined,
  peakRss: atMost(700),
  startBytes: undefined,
};

/** All clients come back at once, with nothing in hand or with versions of everything. */
export const storms: readonly BenchCase[] = [
  stormCase("storm", "no versions", false),
  stormCase("storm-versions", "all versions listed", true),
];

function stormCase(name: string, text: string, versions: boolean): BenchCase {
  return {
    name,
    deadlineSeconds: 300,
    connections: 10_000,
    async run({ quick, signal, say }) {
      const clients = quick ? 500 : 10_000;
      const scenario: Scenario = {
        variant: "delta",
        clients,
        connections: clients,
        resources: 100,
        storm: { versions },
        warmUpRounds: 0,
        rounds: 1,
      };
      const comparison = await compare(measureStorm, scenario, {
        runs: quick ? 1 : 3,
        signal,
        say,
      });
      return rowsOf(
        `storm of ${clients}, ${text}`,
        comparison,
        wanted,
        versions ? "not one resource came: the case fails if one does" : undefined,
      );
    },
  };
}
