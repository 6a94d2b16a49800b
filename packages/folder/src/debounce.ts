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
  /**
   * Settles when a burst is over, also one that was over before the call; or when the signal aborts. One waiter at a time.
   * true: `maxMs` has cut it off, and calls may go on.
   */
  readonly next: (signal: AbortSignal) => Promise<boolean>;
  /** Forgets a pending burst. */
  readonly cancel: () => void;
}

/** Creates a debounce at rest. */
export function createDebounce({ clock, quietMs, maxMs }: DebounceOptions): Debounce {
  let timer: Timer | undefined;
  let first: number | undefined;
  let due = false;
  let isCut = false;
  let wake: (() => void) | undefined;

  const cancel = (): void => {
    timer?.cancel();
    timer = first = undefined;
  };
  const end = (cut: boolean): void => {
    cancel();
    due = true;
    isCut = cut;
    wake?.();
  };
  return {
    flush() {
      end(false);
    },
    cancel,
    touch() {
      const now = clock.now();
      first ??= now;
      timer?.cancel();
      const leftMs = Math.max(0, first + maxMs - now);
      timer = clock.after(Math.min(quietMs, leftMs), () => {
        end(leftMs < quietMs);
      });
    },
    async next(signal) {
      let resolve: () => void = () => undefined;
      const promise = new Promise<void>((settle) => {
        resolve = settle;
      });
      wake = resolve;
      signal.addEventListener("abort", wake, { once: true });
      if (due || signal.aborted) wake();
      await promise;
      signal.removeEventListener("abort", wake);
      wake = undefined;
      due = false;
      return isCut;
    },
  };
}
