import { setTimeout as delay } from "node:timers/promises";

/** The longest time that a step may take, in milliseconds: far more than it does, so that a slow machine is not taken for a fault. */
export const patienceMs = 30_000;

/**
 * Asks every 10 ms until the answer is not undefined, and gives it back.
 * Rejects with an Error that names what did not come, or when `signal` aborts.
 */
export async function waitUntil<T>(
  what: string,
  probe: () => T | undefined | Promise<T | undefined>,
  signal?: AbortSignal,
  timeoutMs: number = patienceMs,
): Promise<T> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    signal?.throwIfAborted();
    const answer = await probe();
    if (answer !== undefined) return answer;
    if (Date.now() > end) throw new Error(`${what}: not within ${timeoutMs / 1000} s`);
    await delay(10, undefined, signal === undefined ? {} : { signal });
  }
}
