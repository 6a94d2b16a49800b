import type { Clock } from "@xdstp/core";

/** A type or a wait that may have waited too long (S-ACK-16). */
export interface Repairable {
  /** True while it is in the queue. Written by the queue only. */
  repairQueued: boolean;
  /**
   * When the wait began, by `Clock.now()`: for a type, when its newest unanswered response was
   * sent. undefined: it no longer waits.
   */
  readonly unansweredSince: number | undefined;
  /** Called when the time limit has passed: sends the newest state again. */
  repair(): void;
}

/** Finds what has waited too long, without a timer for each. */
export interface Repairs {
  /**
   * Calls `repair` once the time limit has passed without an answer. A further call for the same
   * object is cheap.
   */
  watch(waiting: Repairable): void;
}

/**
 * Creates the queue, with one timer for all. The time limit is the same for all, so the queue is in
 * the order of due times. An object that was answered meanwhile is queued again when it comes up.
 */
export function createRepairs(clock: Clock, limitMs: number): Repairs {
  const queue: { readonly waiting: Repairable; readonly due: number }[] = [];
  let armed = false;

  const arm = (): void => {
    const next = queue[0];
    if (armed || next === undefined) return;
    armed = true;
    clock.after(Math.max(0, next.due - clock.now()), run);
  };
  const add = (waiting: Repairable, since: number): void => {
    waiting.repairQueued = true;
    queue.push({ waiting, due: Math.max(since + limitMs, queue.at(-1)?.due ?? 0) });
  };
  const run = (): void => {
    armed = false;
    const now = clock.now();
    const later = queue.findIndex(({ due }) => due > now);
    for (const { waiting } of queue.splice(0, later < 0 ? queue.length : later)) {
      waiting.repairQueued = false;
      const since = waiting.unansweredSince;
      if (since === undefined) continue;
      if (since + limitMs <= now) waiting.repair();
      else add(waiting, since);
    }
    arm();
  };
  return {
    watch(waiting) {
      if (waiting.repairQueued || waiting.unansweredSince === undefined) return;
      add(waiting, waiting.unansweredSince);
      arm();
    },
  };
}
