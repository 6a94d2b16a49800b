import type { Clock } from "@xdstp/core";

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
