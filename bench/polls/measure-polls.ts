import { setTimeout as pause } from "node:timers/promises";
import type { Contender } from "../contender.ts";
import { type Child, startChild } from "../run/child.ts";
import { openFilesFor } from "../run/open-files.ts";
import { percentile } from "../run/percentile.ts";
import { now } from "../churn-plan.ts";
import type { PollClientAnswers, PollClientCommand } from "./client.ts";
import type { PollScenario } from "./poll-scenario.ts";
import type { PollServerAnswers, PollServerCommand } from "./server.ts";

/** The result of one run of one contender. */
export interface PollMeasurement {
  /** Server CPU per answer, together with the next poll of the client, in microseconds. */
  readonly cpuPerPoll: number;
  /** Milliseconds from the change to its being read. */
  readonly p50: number;
  readonly p99: number;
  /** Bytes of a server with waiting polls beyond a server without, per client. */
  readonly rssPerClient: number;
  readonly heapPerClient: number;
  /** Bytes of an answer. */
  readonly pushBytes: number;
}

/** Milliseconds between two questions: each costs the server some CPU. */
const askMs = 5;

type Server = Child<PollServerCommand, PollServerAnswers>;
type Client = Child<PollClientCommand, PollClientAnswers>;

/** Runs a scenario once: one round of polls after the other, each when the polls of the one before have ended. */
export async function measurePolls(
  contender: Contender,
  scenario: PollScenario,
  signal: AbortSignal,
): Promise<PollMeasurement> {
  const { ending, clients, warmUpRounds, rounds } = scenario;
  const options = { openFiles: openFilesFor(clients), signal };
  await using server: Server = startChild("polls/server.ts", {
    ...options,
    flags: ["--expose-gc"],
  });
  const { port } = await server.ask({ op: "start", contender, scenario });
  const bare = await server.ask({ op: "memory" });
  await using client: Client = startChild("polls/client.ts", options);
  await client.ask({ op: "open", port, scenario });
  await client.ask({ op: "read", pushes: clients });
  const allWait = async (): Promise<void> => {
    if (ending === "change-while-waiting")
      while ((await server.ask({ op: "waiting" })) < clients) await pause(askMs);
  };
  await allWait();
  const idle = await server.ask({ op: "memory" });
  let stamp = 0;
  const begin = async (): Promise<{ readonly at: number }> => {
    const change =
      ending === "unchanged" ? { at: now() } : await server.ask({ op: "change", stamp: ++stamp });
    if (ending !== "change-while-waiting") await client.ask({ op: "poll" });
    return change;
  };
  const run = async (count: number): Promise<{ latencies: Float64Array; bytes: number }> => {
    const latencies = new Float64Array(count * clients);
    let bytes = 0;
    for (let round = 0; round < count; round++) {
      const [{ at }, reads] = await Promise.all([
        begin(),
        client.ask({ op: "read", pushes: clients }),
      ]);
      latencies.set(
        reads.at.map((read) => read - at),
        round * clients,
      );
      bytes += reads.bytes;
      await allWait();
    }
    return { latencies, bytes };
  };
  await run(warmUpRounds);
  const before = await server.ask({ op: "cpu" });
  const { latencies, bytes } = await run(rounds);
  const cpu = (await server.ask({ op: "cpu" })) - before;
  return {
    cpuPerPoll: cpu / latencies.length,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    rssPerClient: (idle.rss - bare.rss) / clients,
    heapPerClient: (idle.heap - bare.heap) / clients,
    pushBytes: bytes / latencies.length,
  };
}
