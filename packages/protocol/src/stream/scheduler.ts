/** Something that has work to do in a later turn. */
export interface Drainable {
  /** Written by the scheduler only: waits in its queue. */
  queued: boolean;
  /** Does the work. Must not throw. */
  drain(): void;
}

/** Serves streams in slices, so that requests and changes are read in between. */
export interface Scheduler {
  /** Queues once, however often it is called before the turn. */
  add(drainable: Drainable): void;
}

/** A queue in order of arrival. */
export function createScheduler(
  options: {
    /** Streams served per turn of the event loop. Default: 256. */
    readonly slice?: number;
    /** Calls back in a later turn. Default: `setImmediate`. */
    readonly later?: (callback: () => void) => void;
  } = {},
): Scheduler {
  const slice = options.slice ?? 256;
  const later =
    options.later ??
    ((callback: () => void): void => {
      setImmediate(callback);
    });
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
