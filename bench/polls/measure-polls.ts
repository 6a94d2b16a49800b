import type { Contender } from "../contender.ts";
import { type Child, startChild } from "../run/child.ts";
import { openFilesFor } from "../run/open-files.ts";
import { percentile } from "../run/percentile.ts";
import type { PollClientAnswers, PollClientCommand } from "./client.ts";
import type { PollServerAnswers, PollServerCommand } from "./server.ts";

/** Clients that wait for one resource, each on a connection of its own. */
export interface PollScenario {
  readonly clients: number;
  readonly resources: 1;
  /** Changes that are not counted: code is compiled in them. */
  readonly warmUpRounds: number;
  readonly rounds: number;
}

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

type Server = Child<PollServerCommand, PollServerAnswers>;
type Client = Child<PollClientCommand, PollClientAnswers>;

/** Runs a scenario once: one change after the other, each when the polls of all clients wait. */
export async function measurePolls(
  contender: Contender,
  { clients, warmUpRounds, rounds }: PollScenario,
  signal: AbortSignal,
): Promise<PollMeasurement> {
  const options = { openFiles: openFilesFor(clients), signal };
  await using server: Server = startChild("polls/server.ts", {
    ...options,
    flags: ["--expose-gc"],
  });
  const { port } = await server.ask({ op: "start", contender });
  const bare = await server.ask({ op: "memory" });
  await using client: Client = startChild("polls/client.ts", options);
  await client.ask({ op: "open", port, clients });
  await client.ask({ op: "read", pushes: clients });
  await allWait(server, clients);
  const idle = await server.ask({ op: "memory" });
  let stamp = 0;
  const change = async (count: number): Promise<{ latencies: Float64Array; bytes: number }> => {
    const latencies = new Float64Array(count * clients);
    let bytes = 0;
    for (let round = 0; round < count; round++) {
      const [{ at }, reads] = await Promise.all([
        server.ask({ op: "change", stamp: ++stamp }),
        client.ask({ op: "read", pushes: clients }),
      ]);
      latencies.set(
        reads.at.map((read) => read - at),
        round * clients,
      );
      bytes += reads.bytes;
      await allWait(server, clients);
    }
    return { latencies, bytes };
  };
  await change(warmUpRounds);
  const before = await server.ask({ op: "cpu" });
  const { latencies, bytes } = await change(rounds);
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

async function allWait(server: Server, clients: number): Promise<void> {
  while ((await server.ask({ op: "waiting" })) < clients);
}
