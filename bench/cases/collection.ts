import type { BenchCase, CaseContext } from "../bench-case.ts";
import { atMost, atMostTimes, rowsOf, type Wanted } from "../measures.ts";
import { judged, type Row } from "../row.ts";
import { compare, type Comparison } from "../run/compare.ts";
import { measure, type Measurement } from "../run/measure.ts";
import type { Scenario } from "../scenario.ts";

const sizes = [100, 10_000, 100_000] as const;
const cpu: Wanted = { cpuPerPush: undefined };

/** The cost of one change, by the size of the collection that everyone subscribes to as a whole. */
export const collectionCase: BenchCase = {
  name: "collection",
  deadlineSeconds: 600,
  connections: 100,
  async run(context) {
    const clients = context.quick ? 20 : 100;
    const comparisons: Comparison<Measurement>[] = [];
    for (const resources of sizes) comparisons.push(await compareSize(context, clients, resources));
    const rows = comparisons.flatMap((comparison, index) =>
      rowsOf(`collection of ${String(sizes[index])}, ${clients} clients`, comparison, cpu),
    );
    return [...rows, growth(comparisons)];
  },
};

/** The cost of many clients of a large collection. */
export const largeCollectionCase: BenchCase = {
  name: "collection-memory",
  fullOnly: true,
  deadlineSeconds: 420,
  connections: 1000,
  async run(context) {
    const clients = context.quick ? 200 : 1000;
    const comparison = await compareSize(context, clients, 10_000);
    const wanted: Wanted = {
      cpuPerPush: atMostTimes(1.25),
      rssPerClient: atMost(45),
      heapPerClient: undefined,
      startBytes: undefined,
    };
    return rowsOf(`collection of 10000, ${clients} clients`, comparison, wanted);
  },
};

async function compareSize(
  { quick, signal, say }: CaseContext,
  clients: number,
  resources: number,
): Promise<Comparison<Measurement>> {
  const rounds = 30_000 / clients;
  const scenario: Scenario = {
    variant: "delta",
    clients,
    connections: clients,
    resources,
    warmUpRounds: rounds,
    rounds,
  };
  return compare(measure, scenario, { runs: quick ? 1 : 3, signal, say });
}

/** The ratio of the largest collection over that of the smallest: 1 is independent of the size. */
function growth(comparisons: readonly Comparison<Measurement>[]): Row {
  const ratios = comparisons.map((comparison) => comparison.ratio("cpuPerPush"));
  const [smallest = Number.NaN] = ratios;
  return judged({
    case: "collection of 100000 over 100",
    measure: "ratio to the floor, the one over the other",
    unit: "x",
    xdstp: (ratios.at(-1) ?? Number.NaN) / smallest,
    target: atMost(1.3),
  });
}
