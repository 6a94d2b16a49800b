import { setTimeout as delay } from "node:timers/promises";

/** One call and what became of it. */
export interface Call {
  /** When it began, in milliseconds since the Unix epoch. */
  readonly began: number;
  /** The name of the backend that answered; absent where the call failed. */
  readonly answer?: string;
  readonly error?: string;
}

/** A program that calls all the time. */
export interface Caller {
  readonly name: string;
  /** The calls that began at this time or later and are over, oldest first; at most the last 500. */
  since(began: number): readonly Call[];
  /** The number of calls that failed since it began to call. */
  readonly failed: number;
  /** Ends the calls; resolves when the last one is over. */
  stop(): Promise<void>;
}

const pauseMs = 20;
const kept = 500;

/** Makes one call after the other, with a short pause, and remembers what was answered. */
export function startCaller(name: string, call: () => Promise<string>): Caller {
  const calls: Call[] = [];
  const stopped = new AbortController();
  let failed = 0;
  const run = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      const done = await observe(call);
      if (done.error !== undefined) failed++;
      calls.push(done);
      if (calls.length > 2 * kept) calls.splice(0, kept);
      await delay(pauseMs, undefined, { signal: stopped.signal }).catch(() => undefined);
    }
  };
  const running = run();
  return {
    name,
    since: (began) => calls.filter((entry) => entry.began >= began).slice(-kept),
    get failed() {
      return failed;
    },
    stop: () => {
      stopped.abort();
      return running;
    },
  };
}

async function observe(call: () => Promise<string>): Promise<Call> {
  const began = Date.now();
  try {
    return { began, answer: await call() };
  } catch (error) {
    return { began, error: error instanceof Error ? error.message : String(error) };
  }
}
