import { setTimeout as delay } from "node:timers/promises";

/** The longest time that anything may take, in milliseconds. It is far longer than usual, so that a slow machine is not mistaken for a fault. */
export const patienceMs = 45_000;

/**
 * Asks every 15 ms until the answer is neither undefined nor false, and gives it back.
 * Rejects with an Error that names what did not come, and what was seen last (`seen`, or what the probe threw).
 */
export async function until<T>(
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  seen: () => unknown = () => undefined,
  timeoutMs: number = patienceMs,
): Promise<T> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const { answer, error } = await attempt(probe);
    if (answer !== undefined && answer !== false) return answer;
    if (Date.now() > end)
      throw new Error(
        `${what}: not within ${timeoutMs / 1000} s; last seen: ${JSON.stringify(await seen())}${error === undefined ? "" : `, ${error}`}`,
      );
    await delay(15);
  }
}

async function attempt<T>(
  probe: () => T | Promise<T>,
): Promise<{ readonly answer?: T; readonly error?: string }> {
  try {
    return { answer: await probe() };
  } catch (error) {
    return { error: String(error) };
  }
}
