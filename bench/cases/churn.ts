import type { BenchCase } from "../bench-case.ts";
import { atMost, rowsOf, type Wanted } from "../measures.ts";
import { compare } from "../run/compare.ts";
import { measureChurn, type ChurnMeasurement } from "../run/measure-churn.ts";
import type { Scenario } from "../scenario.ts";
import type { Target } from "../row.ts";

/** Changes by the clock, with one client in ten that reads nothing. */
export const churns: readonly BenchCase[] = [
  churnCase({ changesPerSecond: 200, settled: atMost(500), p99: atMost(100), fullOnly: true }),
  churnCase({ changesPerSecond: 500, settled: atMost(1000), p99: undefined }),
];

interface Aim {
  readonly changesPerSecond: number;
  readonly settled: Target;
  readonly p99: Target | undefined;
  readonly fullOnly?: boolean;
}

function churnCase({ changesPerSecond, settled, p99, fullOnly = false }: Aim): BenchCase {
  const wanted: Wanted<keyof ChurnMeasurement> = {
    late: atMost(1),
    settled,
    p50: undefined,
    p99,
    heapGrowth: atMost(1.05),
    rssGrowth: undefined,
  };
  return {
    name: `churn-${changesPerSecond}`,
    fullOnly,
    deadlineSeconds: 300,
    connections: 1000,
    async run({ quick, signal, say }) {
      const clients = quick ? 200 : 1000;
      const [warmUpSeconds, seconds] = quick ? [1, 2] : [5, 10];
      const churn = {
        changesPerSecond,
        warmUpChanges: warmUpSeconds * changesPerSecond,
        changes: seconds * changesPerSecond,
        mutedOneIn: 10,
      };
      const scenario: Scenario = {
        variant: "delta",
        clients,
        connections: clients,
        resources: 100,
        churn,
        warmUpRounds: 0,
        rounds: 0,
      };
      const comparison = await compare(measureChurn, scenario, {
        runs: quick ? 1 : 3,
        signal,
        say,
      });
      return rowsOf(
        `${changesPerSecond} changes/s, ${clients} clients, 1 in 10 not reading`,
        comparison,
        wanted,
      );
    },
  };
}
