import type { Contender } from "../contender.ts";
import type { Scenario } from "../scenario.ts";
import { allArrived, startClient, startServer } from "./children.ts";
import { runRounds } from "./measure.ts";

/** The cost of all clients that connect at once. */
export interface StormMeasurement {
  /** Server CPU from the first connection to the last ACK, in microseconds. */
  readonly cpu: number;
  /** Milliseconds from the first connection until the last client is in sync. */
  readonly ms: number;
  /** Most bytes of memory that the server process ever had. */
  readonly peakRss: number;
  /** Bytes of all that a client gets first. */
  readonly startBytes: number;
}

/**
 * A server that has just started, and all clients at once. Rejects if a client gets more resources than are due: one that lists all versions, a single one.
 *
 * One more client comes before, to learn the versions. One change afterwards must reach everyone once: who got nothing is subscribed all the same.
 */
export async function measureStorm(
  contender: Contender,
  scenario: Scenario,
  signal: AbortSignal,
): Promise<StormMeasurement> {
  await using server = startServer(scenario, signal);
  const { port } = await server.ask({ op: "start", contender, scenario });
  await using client = startClient(scenario, signal);
  await client.ask({ op: "learn", port, scenario });
  await allArrived(server, client);
  const before = await server.ask({ op: "cpu" });
  const { bytes, ms } = await client.ask({ op: "start", port, scenario });
  await allArrived(server, client);
  const cpu = (await server.ask({ op: "cpu" })) - before;
  const peakRss = await server.ask({ op: "peak" });
  await runRounds({ server, client, scenario }, 0, 1);
  return { cpu, ms, peakRss, startBytes: bytes / scenario.clients };
}
