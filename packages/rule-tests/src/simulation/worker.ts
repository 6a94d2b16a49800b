import { parentPort } from "node:worker_threads";

import { DEEDS, runFederation } from "./federation/run-federation.ts";
import { describeFailure, runScenario, type SeedResult } from "./run-scenario.ts";
import { runSeed } from "./run-seed.ts";
import { filesScenario } from "./wires/files/file-world.ts";
import { httpScenario } from "./wires/http/http-world.ts";
import { pollsScenario } from "./wires/polls/polls-world.ts";

/** The task of a worker. */
export interface SeedTask {
  readonly seed: number;
  /** The number of steps; of a federation, of deeds. */
  readonly steps: number;
  /** Servers and clients, a chain of relays between them, federations, or clients and servers of another wire than gRPC, each in a world of its own. Default: `ends`. */
  readonly world?: "ends" | "relays" | "federations" | "http" | "polls" | "files";
}

/** The answer of a worker. */
export interface SeedOutcome extends SeedTask {
  readonly ms: number;
  /** The failure, for people. Absent: every invariant has held. */
  readonly failure?: string;
}

// Errors are data here, thousands a second: where they were made is of no use.
Error.stackTraceLimit = 0;

parentPort?.on("message", (task: SeedTask) => {
  void answer(task);
});

async function answer(task: SeedTask): Promise<void> {
  parentPort?.postMessage(
    task.world === "federations" ? await runFederations(task) : await runWorld(task),
  );
}

async function runWorld(task: SeedTask): Promise<SeedOutcome> {
  const { seed, world = "ends" } = task;
  const { failure, ms, steps: made } = await runOne(task);
  return {
    seed,
    steps: made,
    ms,
    world,
    ...(failure === undefined ? {} : { failure: describeFailure(seed, failure) }),
  };
}

async function runOne({ seed, steps, world }: SeedTask): Promise<SeedResult> {
  switch (world) {
    case "http":
      return runScenario(seed, httpScenario({ seed }), steps);
    case "polls":
      return runScenario(seed, pollsScenario({ seed }), steps);
    case "files":
      return runScenario(seed, filesScenario({ seed }), steps);
    default:
      return runSeed({ seed, relays: world === "relays" }, steps);
  }
}

/** Worlds that are short-lived, of one federation and of two by turns: their seeds follow from that of the task. */
async function runFederations({ seed, steps }: SeedTask): Promise<SeedOutcome> {
  const started = performance.now();
  const first = seed * 1_000;
  let failure: string | undefined;
  let made = 0;
  while (made < steps && failure === undefined) {
    const world = made / DEEDS;
    failure = await runFederation(first + world, undefined, 1 + (world % 2));
    made += DEEDS;
  }
  return {
    seed,
    steps: made,
    ms: performance.now() - started,
    world: "federations",
    ...(failure !== undefined && { failure }),
  };
}
