import type { Drainable, Scheduler } from "@xdstp/protocol/server";

/** A scheduler whose turns survive what they serve: a throw ends up in `onFault`, and the others in the queue are served. */
export function createGuardedScheduler(
  inner: Scheduler,
  onFault: (drainable: Drainable, error: unknown) => void,
): Scheduler {
  return {
    add(drainable) {
      if (drainable.queued) return;
      drainable.queued = true;
      inner.add(new Guarded(drainable, onFault));
    },
  };
}

class Guarded implements Drainable {
  queued = false;
  readonly #drainable: Drainable;
  readonly #onFault: (drainable: Drainable, error: unknown) => void;

  constructor(drainable: Drainable, onFault: (drainable: Drainable, error: unknown) => void) {
    this.#drainable = drainable;
    this.#onFault = onFault;
  }

  drain(): void {
    this.#drainable.queued = false;
    try {
      this.#drainable.drain();
    } catch (error) {
      this.#onFault(this.#drainable, error);
    }
  }
}
