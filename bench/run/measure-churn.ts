import { setTimeout as wait } from "node:timers/promises";
import { dueAt, indexOfChange, now, type ChurnPlan } from "../churn-plan.ts";
import type { Contender } from "../contender.ts";
import type { Scenario } from "../scenario.ts";
import { allArrived, startClient, startServer, type Client, type Server } from "./children.ts";

/** The result of changes at fixed times. */
export interface ChurnMeasurement {
  /** The share of the changes that the server had not made when the time was over. */
  readonly late: number;
  /** Milliseconds from the end of the changes until every reader has the newest of everything. */
  readonly settled: number;
  /** Milliseconds from when a change was due until a reader has it or a newer one. */
  readonly p50: number;
  readonly p99: number;
  /** Memory of the server after the counted changes to that before them, each after a collection. */
  readonly heapGrowth: number;
  readonly rssGrowth: number;
}

const leadMs = 50;
const tickMs = 2;

/** Changes by the clock, from a process of its own, once uncounted and once counted. */
export async function measureChurn(
  contender: Contender,
  scenario: Scenario,
  signal: AbortSignal,
): Promise<ChurnMeasurement> {
  const { warmUpChanges = 0, changes = 0, changesPerSecond = 1 } = scenario.churn ?? {};
  await using server = startServer(scenario, signal);
  const { port } = await server.ask({ op: "start", contender, scenario });
  await using client = startClient(scenario, signal);
  await client.ask({ op: "start", port, scenario });
  const churn = async (first: number, count: number): ReturnType<typeof runPlan> =>
    runPlan(server, client, {
      first,
      count,
      changesPerSecond,
      resources: scenario.resources,
      begin: now() + leadMs,
    });
  await churn(1, warmUpChanges);
  const before = await server.ask({ op: "memory" });
  const figures = await churn(warmUpChanges + 1, changes);
  const after = await server.ask({ op: "memory" });
  return { ...figures, heapGrowth: after.heap / before.heap, rssGrowth: after.rss / before.rss };
}

async function runPlan(
  server: Server,
  client: Client,
  plan: ChurnPlan,
): Promise<Pick<ChurnMeasurement, "late" | "settled" | "p50" | "p99">> {
  const [takenAt, { settledAt, p50, p99 }] = await Promise.all([
    change(server, plan),
    client.ask({ op: "churn", plan }),
  ]);
  await allArrived(server, client);
  const end = dueAt(plan, plan.first + plan.count);
  return {
    late: takenAt.filter((at) => at > end).length / plan.count,
    settled: Math.max(0, settledAt - end),
    p50,
    p99,
  };
}

/** Sends each change when it is due, whatever became of those before. Resolves with when the server made them. */
async function change(server: Server, plan: ChurnPlan): Promise<readonly number[]> {
  const answers: Promise<{ readonly at: number }>[] = [];
  while (answers.length < plan.count) {
    const stamp = plan.first + answers.length;
    if (dueAt(plan, stamp) > now()) await wait(tickMs);
    else answers.push(server.ask({ op: "change", indexes: [indexOfChange(plan, stamp)], stamp }));
  }
  return (await Promise.all(answers)).map(({ at }) => at);
}
