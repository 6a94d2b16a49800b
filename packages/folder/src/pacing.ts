import type { Clock, Timer } from "@xdstp/core";

/** A file system without an answer for this time counts as hanging, such as a network mount whose server is down. */
const deadlineMs = 10_000;

/**
 * Runs one operation of the file system on a path, and rejects where it takes longer than 10 s.
 * The operation itself cannot be ended. While it is under way, others on the same path are rejected at once: each of them would take a thread of the few that there are.
 */
export type Patience = <T>(path: string, run: () => Promise<T>) => Promise<T>;

/** Creates a patience that waits for nothing yet. */
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

/** Like `Promise.all` over a `map`, with at most `limit` calls at a time. The first rejection rejects it. */
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

/** When a burst of calls counts as over. */
interface DebounceOptions {
  readonly clock: Clock;
  /** Milliseconds without a call. */
  readonly quietMs: number;
  /** Milliseconds after the first call, whatever comes. */
  readonly maxMs: number;
}

/** Merges bursts of calls into one. */
interface Debounce {
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
