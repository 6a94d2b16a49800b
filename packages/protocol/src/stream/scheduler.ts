import { nextTurn } from "@xdstp/core";

/** An object that has work to do in a later turn. */
export interface Drainable {
  /** True while it is in the queue. Written by the scheduler only. */
  queued: boolean;
  /** Does the work. Must not throw. */
  drain(): void;
}

/** Serves streams in slices, so that requests and changes are read between them. */
export interface Scheduler {
  /** Queues an object. Further calls before its turn have no effect. */
  add(drainable: Drainable): void;
}

/** Creates a scheduler with a queue in the order of arrival. */
export function createScheduler(
  options: {
    /** The greatest number of streams that are served per turn of the event loop. Default: 256. */
    readonly slice?: number;
    /** Calls back in a later turn. Default: after the events that wait. */
    readonly later?: (callback: () => void) => void;
  } = {},
): Scheduler {
  const slice = options.slice ?? 256;
  const later = options.later ?? nextTurn;
  let queue: Drainable[] = [];
  let at = 0;
  let running = false;

  const run = (): void => {
    const end = Math.min(queue.length, at + slice);
    while (at < end) {
      const next = queue[at++];
      if (next === undefined) break;
      next.queued = false;
      next.drain();
    }
    if (at < queue.length) {
      compact();
      later(run);
      return;
    }
    queue = [];
    at = 0;
    running = false;
  };
  const compact = (): void => {
    if (at < 4096) return;
    queue = queue.slice(at);
    at = 0;
  };
  return {
    add(drainable) {
      if (drainable.queued) return;
      drainable.queued = true;
      queue.push(drainable);
      if (running) return;
      running = true;
      later(run);
    },
  };
}
