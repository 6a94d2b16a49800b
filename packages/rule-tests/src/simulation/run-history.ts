import type { Action } from "./action.ts";
import type { Violation } from "./violation.ts";
import { createWorld, type WorldOptions } from "./world.ts";

/** The result of a history. */
export interface RunResult {
  readonly steps: number;
  readonly violation: Violation | undefined;
}

const REST: Action = { waitMs: 0, deed: { kind: "rest" } };

/** Runs a history in a world of its own, and a rest behind it. */
export async function runHistory(
  options: WorldOptions,
  history: readonly Action[],
): Promise<RunResult> {
  const world = createWorld(options);
  await world.run(history);
  if (world.violation === undefined && history.at(-1)?.deed.kind !== "rest")
    await world.run([REST]);
  const { steps, violation } = world;
  world.close();
  return { steps, violation };
}
