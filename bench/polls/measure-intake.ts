import type { Contender } from "../contender.ts";
import { type Child, startChild } from "../run/child.ts";
import { openFilesFor } from "../run/open-files.ts";
import type { IntakeClientAnswers, IntakeClientCommand } from "./intake-client.ts";
import type { IntakeServerAnswers, IntakeServerCommand } from "./intake-server.ts";
import type { RestProtocol } from "./poll-scenario.ts";

/** One client that polls without a pause, and receives a new state each time. */
export interface IntakeScenario {
  readonly protocol: RestProtocol;
  readonly clients: 1;
  readonly resources: number;
  /** Polls that are not counted: code is compiled in them. */
  readonly warmUp: number;
  readonly polls: number;
}

/** The result of one run of one contender. */
export interface IntakeMeasurement {
  /** Client CPU per poll, in microseconds. */
  readonly cpuPerTaken: number;
}

/** Runs a scenario once. */
export async function measureIntake(
  contender: Contender,
  { protocol, resources, warmUp, polls }: IntakeScenario,
  signal: AbortSignal,
): Promise<IntakeMeasurement> {
  const options = { openFiles: openFilesFor(1), signal };
  await using server: Child<IntakeServerCommand, IntakeServerAnswers> = startChild(
    "polls/intake-server.ts",
    options,
  );
  const { port } = await server.ask({ op: "start", protocol, resources });
  await using client: Child<IntakeClientCommand, IntakeClientAnswers> = startChild(
    "polls/intake-client.ts",
    options,
  );
  await client.ask({ op: "start", contender, protocol, port });
  await client.ask({ op: "take", count: warmUp });
  return { cpuPerTaken: (await client.ask({ op: "take", count: polls })) / polls };
}
