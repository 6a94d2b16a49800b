import type { Clock, Timer } from "@xdstp/core";

/** Milliseconds without an answer after which a file system counts as hanging, such as a network mount whose server is down. */
const deadlineMs = 10_000;

/**
 * Runs one operation of the file system on a path. Rejects if it takes longer than 10 s.
 * The operation itself cannot be stopped. While it runs, further operations on the same path are rejected immediately, since each of them would occupy one of the few threads.
 */
export type Patience = <T>(path: string, run: () => Promise<T>) => Promise<T>;

/** Creates a {@link Patience} without running operations. */
export function createPatience(clock: Clock): Patience {
  const hanging = new Set<string>();
  return async (path, run) => {
    if (hanging.has(path)) throw new Error(hangs);
    const work = run();
    return await new Promise((resolve, reject) => {
      const timer = clock.after(deadlineMs, () => {
        hanging.add(path);
        reject(new Error(hangs));
      });
      const settle = (): void => {
        timer.cancel();
        hanging.delete(path);
      };
      work.finally(settle).then(resolve, reject);
    });
  };
}

const hangs = `cannot be read: its file system has not answered for ${deadlineMs / 1_000} s`;

/** Runs `run` for each item, with at most `limit` calls at the same time. Returns the results in order, and rejects with the first rejection. */
export async function mapLimit<T, R>(
  items: readonly T[],
  limit: number,
  run: (item: T) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(items.length);
  const entries = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of entries) results[index] = await run(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  return results;
}

/** Runs `run` every `pauseMs` milliseconds until it is cancelled. Each pause starts after the run before, since a file system that does not answer takes long. `run` must not reject. */
export function repeatEvery(clock: Clock, pauseMs: number, run: () => Promise<void>): Timer {
  let isCancelled = false;
  const schedule = (): Timer =>
    clock.after(pauseMs, () => {
      void run().then(() => {
        if (!isCancelled) timer = schedule();
      });
    });
  let timer = schedule();
  return {
    cancel: () => {
      isCancelled = true;
      timer.cancel();
    },
  };
}

/** The end of a burst of calls. */
export interface DebounceOptions {
  /** The clock of the burst. */
  readonly clock: Clock;
  /** Milliseconds without a call after which a burst ends. */
  readonly quietMs: number;
  /** Milliseconds after the first call after which a burst ends in any case. */
  readonly maxMs: number;
}

/** Merges bursts of calls into one. */
export interface Debounce {
  /** Notes a call. */
  readonly touch: () => void;
  /** Ends the current burst immediately. */
  readonly flush: () => void;
  /**
   * Resolves when a burst has ended, also one that ended before the call, or when the signal aborts. Only one caller may wait at a time.
   * The result is true if `maxMs` has ended the burst, so that calls may continue.
   */
  readonly next: (signal: AbortSignal) => Promise<boolean>;
  /** Discards the current burst. */
  readonly cancel: () => void;
}

/** Creates a debounce without a burst. */
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
      const { promise, resolve }: PromiseWithResolvers<void> = Promise.withResolvers();
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
