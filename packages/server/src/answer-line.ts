import { type Status, StatusCode } from "@xdstp/core";

import type { ServerLimits } from "./server-limits.ts";
import type { ServerStats } from "./xds-server.ts";

/**
 * The number of answers of one kind that are created at the same time, and the number of calls that
 * may wait (S-LIM-1).
 */
interface AnswerLineOptions {
  readonly atOnce: number;
  readonly waiting: number;
}

/**
 * A queue for expensive answers. Principals are served in turn; the calls of one principal are
 * served in order of arrival.
 */
export interface AnswerLine {
  /**
   * Returns the answer, RESOURCE_EXHAUSTED if too many calls wait, or CANCELLED if the signal
   * aborts. If the queue is full, the newest call of the principal with the most waiting calls is
   * rejected in favor of one with fewer.
   * @param who - The principal; see {@link principalOf}
   */
  run<T>(who: string, signal: AbortSignal, answer: () => T | Promise<T>): Promise<T | Status>;
  stats(): ServerStats["answers"]["status"];
}

const tooMany: Status = {
  code: StatusCode.RESOURCE_EXHAUSTED,
  message: "too many calls wait for an answer",
};
const cancelled: Status = { code: StatusCode.CANCELLED, message: "the call was cancelled" };

/** Ends the wait of a call. `undefined`: its turn has come. A status: the call is rejected. */
type Settle = (rejection: Status | undefined) => void;

/**
 * Creates an empty queue. The next call begins in a later turn of the event loop, so that an answer
 * is sent and other work is done between two answers.
 */
export function createAnswerLine({ atOnce, waiting: most }: AnswerLineOptions): AnswerLine {
  const waiting = createFairQueue<Settle>();
  let answering = 0;
  let rejected = 0;
  const next = (): void => {
    const settle = waiting.take();
    if (settle === undefined) answering -= 1;
    else settle(undefined);
  };
  const turnAway = (settle?: Settle): Status => {
    rejected += 1;
    settle?.(tooMany);
    return tooMany;
  };
  const itsTurn = async (who: string, signal: AbortSignal): Promise<Status | undefined> =>
    new Promise((resolve) => {
      const settle: Settle = (rejection) => {
        waiting.remove(who, settle);
        signal.removeEventListener("abort", leave);
        resolve(rejection);
      };
      const leave = (): void => {
        settle(cancelled);
      };
      waiting.add(who, settle);
      signal.addEventListener("abort", leave);
    });
  const admitted = async (who: string, signal: AbortSignal): Promise<Status | undefined> => {
    if (answering < atOnce) {
      answering += 1;
      return undefined;
    }
    if (waiting.size >= most) {
      const other = waiting.makeRoom(who);
      if (other === undefined) return turnAway();
      turnAway(other);
    }
    return itsTurn(who, signal);
  };
  return {
    async run(who, signal, answer) {
      if (signal.aborted) return cancelled;
      const rejection = await admitted(who, signal);
      if (rejection !== undefined) return rejection;
      try {
        return await answer();
      } finally {
        setImmediate(next);
      }
    },
    stats: () => ({ answering, waiting: waiting.size, rejected }),
  };
}

/** The two queues of one server. */
interface AnswerLines {
  readonly status: AnswerLine;
  readonly fetch: AnswerLine;
  stats(): ServerStats["answers"];
}

/** Creates the queues of a server, which are empty. */
export function createAnswerLines({
  statusAnswers,
  fetchAnswers,
  waitingAnswers: waiting,
}: ServerLimits["answers"]): AnswerLines {
  const status = createAnswerLine({ atOnce: statusAnswers, waiting });
  const fetch = createAnswerLine({ atOnce: fetchAnswers, waiting });
  return { status, fetch, stats: () => ({ status: status.stats(), fetch: fetch.stats() }) };
}

/**
 * Waiting items by owner. Each owner gets one item out in turn, whatever number of items the others
 * have.
 */
export interface FairQueue<T> {
  /** The number of waiting items. */
  readonly size: number;
  add(who: string, item: T): void;
  /** Removes an item, if it is in the queue. */
  remove(who: string, item: T): void;
  /**
   * Removes and returns the next item: the oldest of the owner whose last turn is the longest ago.
   */
  take(): T | undefined;
  /**
   * Makes room for one more item of `who`: removes and returns the newest item of the owner with
   * the most. `undefined`: no owner would have more than `who`.
   */
  makeRoom(who: string): T | undefined;
}

/** Creates an empty queue. */
export function createFairQueue<T>(): FairQueue<T> {
  const queues = new Map<string, Set<T>>();
  let size = 0;
  const remove = (who: string, item: T): void => {
    const items = queues.get(who);
    if (items?.delete(item) !== true) return;
    size -= 1;
    if (items.size === 0) queues.delete(who);
  };
  const toTheEnd = (who: string): void => {
    const items = queues.get(who);
    if (items === undefined || queues.size === 1) return;
    queues.delete(who);
    queues.set(who, items);
  };
  return {
    get size() {
      return size;
    },
    add(who, item) {
      queues.set(who, (queues.get(who) ?? new Set<T>()).add(item));
      size += 1;
    },
    remove,
    take() {
      for (const [who, [item]] of queues) {
        if (item === undefined) break;
        remove(who, item);
        toTheEnd(who);
        return item;
      }
      return undefined;
    },
    makeRoom(who) {
      const [most, items] = [...queues].reduce(
        (one, other) => (other[1].size > one[1].size ? other : one),
        [who, new Set<T>()],
      );
      if (items.size <= (queues.get(who)?.size ?? 0) + 1) return undefined;
      const newest = [...items].at(-1);
      if (newest !== undefined) remove(most, newest);
      return newest;
    },
  };
}
