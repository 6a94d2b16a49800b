import { parentPort } from "node:worker_threads";

import { describeFailure, runSeed } from "./run-seed.ts";

/** What a worker is given. */
export interface SeedTask {
  readonly seed: number;
  readonly steps: number;
}

/** What it answers. */
export interface SeedOutcome extends SeedTask {
  readonly ms: number;
  /** For people. Absent: every invariant has held. */
  readonly failure?: string;
}

// Errors are data here, thousands a second: where they were made is of no use.
Error.stackTraceLimit = 0;

parentPort?.on("message", (task: SeedTask) => { void answer(task); });

async function answer({ seed, steps }: SeedTask): Promise<void> {
  const { failure, ms, steps: made } = await runSeed({ seed }, steps);
  const outcome: SeedOutcome = { seed, steps: made, ms, ...(failure === undefined ? {} : { failure: describeFailure(seed, failure) }) };
  parentPort?.postMessage(outcome);
}
