import type { Clock } from "@xdstp/core";
import type { Scheduler } from "@xdstp/protocol/server";

/** Waits until everything that a scheduler holds now has been served, for `atMostMs` milliseconds at most. */
export async function nextTurn(
  scheduler: Scheduler,
  clock: Clock,
  atMostMs: number,
): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = clock.after(atMostMs, resolve);
    scheduler.add({
      queued: false,
      drain() {
        timer.cancel();
        resolve();
      },
    });
  });
}
