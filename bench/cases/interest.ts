import type { BenchCase } from "../bench-case.ts";
import { atMost, atMostTimes, rowsOf, type Wanted } from "../measures.ts";
import { judged, type Row } from "../row.ts";
import { compare, type Comparison } from "../run/compare.ts";
import { measure, type Measurement } from "../run/measure.ts";
import type { NameSpread, Scenario } from "../scenario.ts";

const clients = 1000;
const perClient = 100;

/** A name has `clients * perClient / distinct` watchers: 1, 100 and 1,000. */
const spreads: readonly NameSpread[] = [
  { perClient, distinct: 100_000, changesPerRound: 100 },
  { perClient, distinct: 1000, changesPerRound: 10 },
  { perClient, distinct: 100, changesPerRound: 1 },
];

/** 1,000 clients ask for 100 names each of 100,000: the cost of a change follows those who watch the name. */
export const interestCase: BenchCase = {
  name: "interest",
  deadlineSeconds: 420,
  connections: clients,
  async run({ quick, signal, say }) {
    const comparisons: Comparison<Measurement>[] = [];
    const chosen = quick ? spreads.filter(({ distinct }) => distinct !== 1000) : spreads;
    for (const names of chosen)
      comparisons.push(
        await compare(measure, scenarioOf(names, quick), { runs: quick ? 1 : 3, signal, say }),
      );
    const rows = comparisons.flatMap((comparison, index) =>
      rowsOf(`interest, ${watchers(chosen[index])} watching a name`, comparison, wanted(index)),
    );
    return [...rows, linearity(comparisons)];
  },
};

function scenarioOf(names: NameSpread, quick: boolean): Scenario {
  const rounds = (names.changesPerRound === 100 ? 300 : 60) / (quick ? 2 : 1);
  return {
    variant: "delta",
    clients,
    connections: clients,
    resources: 100_000,
    names,
    warmUpRounds: rounds / 2,
    rounds,
  };
}

function wanted(index: number): Wanted {
  return {
    cpuPerPush: atMostTimes(1.5),
    rssPerClient: index === 0 ? atMost(75) : undefined,
    heapPerClient: undefined,
  };
}

function watchers(spread: NameSpread | undefined): number {
  return spread === undefined ? 0 : (clients * perClient) / spread.distinct;
}

/** The ratio with 1,000 watchers over that with fewer: 1 is linear. */
function linearity(comparisons: readonly Comparison<Measurement>[]): Row {
  const [some, many] = comparisons.slice(-2).map((comparison) => comparison.ratio("cpuPerPush"));
  return judged({
    case: "interest, 1000 watchers over fewer",
    measure: "ratio to the floor, the one over the other",
    unit: "x",
    xdstp: (many ?? Number.NaN) / (some ?? Number.NaN),
    target: atMost(1.3),
  });
}
