import { parentPort } from "node:worker_threads";

import { DEEDS, runFederation } from "./federation/run-federation.ts";
import { describeFailure, runSeed } from "./run-seed.ts";

/** What a worker is given. */
export interface SeedTask {
  readonly seed: number;
  /** Of federation: deeds. */
  readonly steps: number;
  /** Federations, each in a world of its own, instead of one world of servers and clients. Default: false. */
  readonly isOfFederation?: boolean;
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

async function answer(task: SeedTask): Promise<void> {
  parentPort?.postMessage(task.isOfFederation === true ? await runFederations(task) : await runEnds(task));
}

async function runEnds({ seed, steps }: SeedTask): Promise<SeedOutcome> {
  const { failure, ms, steps: made } = await runSeed({ seed }, steps);
  return { seed, steps: made, ms, ...(failure === undefined ? {} : { failure: describeFailure(seed, failure) }) };
}

/** Worlds that are short-lived: their seeds follow from that of the task. */
async function runFederations({ seed, steps }: SeedTask): Promise<SeedOutcome> {
  const started = performance.now();
  const first = seed * 1_000;
  let failure: string | undefined;
  let made = 0;
  while (made < steps && failure === undefined) {
    failure = await runFederation(first + made / DEEDS);
    made += DEEDS;
  }
  return { seed, steps: made, ms: performance.now() - started, isOfFederation: true, ...(failure !== undefined && { failure }) };
}
