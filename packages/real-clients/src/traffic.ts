import { setTimeout as delay } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { until } from "./until.ts";

/** Calls that go on while a suite changes things. */
export interface Traffic {
  /** Every answer that was not a success, with the reason; it grows. Those of {@link ownFailure} are not in it. */
  readonly failures: readonly string[];
  /** The number of calls that are over. */
  readonly count: number;
  /** Resolves when several calls in a row that begin from now on have this answer. */
  answeredBy(answer: string): Promise<void>;
  /** Resolves when this number of further calls is over. */
  more(calls: number): Promise<void>;
  stop(): Promise<void>;
}

/**
 * A call that a program fails by itself, whatever the server does.
 *
 * grpc-go chooses by the new routes before its balancer knows their new cluster: a call in between fails. The cluster and its endpoints were accepted before the routes.
 */
const ownFailure = "unknown cluster selected for RPC";

/** Calls without end, one after the other. The call gives its answer, or throws. */
export function useTraffic(call: () => Promise<string>): Traffic {
  const answers: string[] = [];
  const failures: string[] = [];
  let stopped = false;
  const run = async (): Promise<void> => {
    while (!stopped) {
      const answer = await call().catch((error: unknown) => {
        if (!String(error).includes(ownFailure)) failures.push(String(error));
        return `failed: ${String(error)}`;
      });
      answers.push(answer);
      await delay(5);
    }
  };
  const running = run();
  const stop = (): Promise<void> => {
    stopped = true;
    return running;
  };
  onTestFinished(stop);
  return {
    failures,
    get count() {
      return answers.length;
    },
    answeredBy: async (answer) => {
      // The call that is under way began before.
      const from = answers.length + 1;
      await until(
        `answers by ${answer}`,
        () =>
          answers
            .slice(from)
            .slice(-10)
            .filter((given) => given === answer).length === 10,
        () => answers.slice(-3),
      );
    },
    more: async (calls) => {
      const from = answers.length;
      await until(`${calls} more calls`, () => answers.length >= from + calls);
    },
    stop,
  };
}

/** One HTTP request; gives the body. Throws the status, where it is not success. */
export async function get(url: string): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(30_000) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text}`);
  return text;
}
