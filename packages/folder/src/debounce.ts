import type { Clock, Timer } from "@xdstp/core";

/** When a burst of calls counts as over. */
export interface DebounceOptions {
  readonly clock: Clock;
  /** Milliseconds without a call. */
  readonly quietMs: number;
  /** Milliseconds after the first call, whatever comes. */
  readonly maxMs: number;
}

/** Merges bursts of calls into one. */
export interface Debounce {
  /** Something happened. */
  readonly touch: () => void;
  /** Ends the wait at once. */
  readonly flush: () => void;
  /** Settles when a burst is over, also one that was over before the call; or when the signal aborts. One waiter at a time. */
  readonly next: (signal: AbortSignal) => Promise<void>;
  /** Forgets a pending burst. */
  readonly cancel: () => void;
}

/** Creates a debounce at rest. */
export function createDebounce({ clock, quietMs, maxMs }: DebounceOptions): Debounce {
  let timer: Timer | undefined;
  let first: number | undefined;
  let due = false;
  let wake: (() => void) | undefined;

  const cancel = (): void => {
    timer?.cancel();
    timer = first = undefined;
  };
  const flush = (): void => {
    cancel();
    due = true;
    wake?.();
  };
  return {
    flush,
    cancel,
    touch() {
      const now = clock.now();
      first ??= now;
      timer?.cancel();
      timer = clock.after(Math.max(0, Math.min(quietMs, first + maxMs - now)), flush);
    },
    async next(signal) {
      let resolve: () => void = () => undefined;
      const promise = new Promise<void>((settle) => { resolve = settle; });
      wake = resolve;
      signal.addEventListener("abort", wake, { once: true });
      if (due || signal.aborted) wake();
      await promise;
      signal.removeEventListener("abort", wake);
      wake = undefined;
      due = false;
    },
  };
}
