import { parentPort } from "node:worker_threads";

import { DEEDS, runFederation } from "./federation/run-federation.ts";
import { describeFailure, runScenario } from "./run-scenario.ts";
import { runSeed } from "./run-seed.ts";
import { httpScenario } from "./wires/http/http-world.ts";

/** The task of a worker. */
export interface SeedTask {
  readonly seed: number;
  /** The number of steps; of a federation, of deeds. */
  readonly steps: number;
  /** Servers and clients, a chain of relays between them, federations, or clients and servers of another wire than gRPC, each in a world of its own. Default: `ends`. */
  readonly world?: "ends" | "relays" | "federations" | "http";
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

async function runWorld({ seed, steps, world = "ends" }: SeedTask): Promise<SeedOutcome> {
  const {
    failure,
    ms,
    steps: made,
  } = world === "http"
    ? await runScenario(seed, httpScenario({ seed }), steps)
    : await runSeed({ seed, relays: world === "relays" }, steps);
  return {
    seed,
    steps: made,
    ms,
    world,
    ...(failure === undefined ? {} : { failure: describeFailure(seed, failure) }),
  };
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
