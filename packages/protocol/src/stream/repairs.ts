import type { Clock } from "@xdstp/core";

/** Something that waits for an answer while it has changes to send (S-ACK-16). */
export interface Repairable {
  /** Written by the queue only: waits in it. */
  repairQueued: boolean;
  /** When the newest unanswered response was sent; undefined: nothing waits any more. */
  readonly unansweredSince: number | undefined;
  /** The time is over: send the newest state again. */
  repair(): void;
}

/** Who has waited too long, without a timer each. */
export interface Repairs {
  /** Asks for a call of `repair` once the limit has passed without an answer. Cheap when asked again. */
  watch(waiting: Repairable): void;
}

/** One timer for all: the limit is the same for everyone, so the queue is in order of time but for those who were answered meanwhile. */
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
