import type { Contender } from "../contender.ts";
import { changesOf, pushesPerRound, type Scenario } from "../scenario.ts";
import type { MemoryUse } from "../server/memory-in-use.ts";
import { allArrived, startClient, startServer, type Client, type Server } from "./children.ts";
import { percentile } from "./percentile.ts";

/** The result of one run of one contender. */
export interface Measurement {
  /** Server CPU per push together with its ACK, in microseconds. */
  readonly cpuPerPush: number;
  /** Milliseconds from the change to its being read. */
  readonly p50: number;
  readonly p99: number;
  /** Bytes of a server with idle clients beyond a server without, per client. */
  readonly rssPerClient: number;
  readonly heapPerClient: number;
  /** Bytes of a push, and of all that a client gets first. */
  readonly pushBytes: number;
  readonly startBytes: number;
}

/** Runs a scenario once: a server process, a client process, and nothing of them left afterwards. */
export async function measure(
  contender: Contender,
  scenario: Scenario,
  signal: AbortSignal,
): Promise<Measurement> {
  await using server = startServer(scenario, signal);
  const { port } = await server.ask({ op: "start", contender, scenario });
  const bare = await server.ask({ op: "memory" });
  await using client = startClient(scenario, signal);
  const start = await client.ask({ op: "start", port, scenario });
  await allArrived(server, client);
  const memory = perClient(bare, await server.ask({ op: "memory" }), scenario.clients);
  await runRounds({ server, client, scenario }, 0, scenario.warmUpRounds);
  const before = await server.ask({ op: "cpu" });
  const { latencies, bytes } = await runRounds(
    { server, client, scenario },
    scenario.warmUpRounds,
    scenario.rounds,
  );
  await allArrived(server, client);
  const cpu = (await server.ask({ op: "cpu" })) - before;
  return {
    ...memory,
    cpuPerPush: cpu / latencies.length,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    pushBytes: bytes / latencies.length,
    startBytes: start.bytes / scenario.clients,
  };
}

function perClient(
  bare: MemoryUse,
  idle: MemoryUse,
  clients: number,
): Pick<Measurement, "rssPerClient" | "heapPerClient"> {
  return {
    rssPerClient: (idle.rss - bare.rss) / clients,
    heapPerClient: (idle.heap - bare.heap) / clients,
  };
}

/** One change after the other, each when everyone has read and acknowledged the one before. */
export async function runRounds(
  place: { readonly server: Server; readonly client: Client; readonly scenario: Scenario },
  first: number,
  count: number,
): Promise<{ readonly latencies: Float64Array; readonly bytes: number }> {
  const { server, client, scenario } = place;
  const pushes = pushesPerRound(scenario);
  const latencies = new Float64Array(count * pushes);
  let bytes = 0;
  for (let round = 0; round < count; round++) {
    const [{ at }, reads] = await Promise.all([
      server.ask({
        op: "change",
        indexes: changesOf(scenario, first + round),
        stamp: first + round + 1,
      }),
      client.ask({ op: "read", pushes }),
    ]);
    latencies.set(
      reads.at.map((read) => read - at),
      round * pushes,
    );
    bytes += reads.bytes;
  }
  return { latencies, bytes };
}
