import type { FakeClock, ManualScheduler } from "@xdstp/testing";
import type { ModelClient } from "./model-client.ts";

/** Lets everything come to rest; what waits for a client goes at last. */
export function settleAll(
  clients: readonly ModelClient[],
  turns: ManualScheduler,
  clock: FakeClock,
  seed: number,
): void {
  let waited = false;
  for (let round = 0; round < 2_000; round++) {
    turns.run();
    let busy = false;
    for (const client of clients) {
      while (client.receive()) busy = true;
      busy = client.answer() || busy;
    }
    if (!busy && waited) return;
    if (!busy) clock.advance(15_000);
    waited = !busy;
  }
  throw new Error(`seed ${seed}: no rest`);
}
