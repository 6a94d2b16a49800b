import { StatusCode, type Status } from "@xdstp/core";

/** How many answers of one kind are made at the same time, and how many calls may wait for theirs (S-LIM-1). */
export interface AnswerLineOptions {
  readonly atOnce: number;
  readonly waiting: number;
}

/** What has been counted of a line. */
export interface AnswerLineStats {
  /** Answers that are made now. */
  readonly answering: number;
  /** Calls that wait for theirs. */
  readonly waiting: number;
  /** Calls that were turned away since too many waited. */
  readonly refused: number;
}

/** Answers that cost much, some at a time, in the order in which they were asked for. */
export interface AnswerLine {
  /** The answer; RESOURCE_EXHAUSTED where too many wait, CANCELLED where the signal aborts meanwhile. */
  run<T>(signal: AbortSignal, answer: () => T | Promise<T>): Promise<T | Status>;
  stats(): AnswerLineStats;
}

const tooMany: Status = { code: StatusCode.RESOURCE_EXHAUSTED, message: "too many calls wait for an answer" };
const cancelled: Status = { code: StatusCode.CANCELLED, message: "the call was cancelled" };

/** A line with nobody in it. Its places are handed on in a later turn of the event loop, so that what was answered is on its way and others are served between two answers. */
export function createAnswerLine({ atOnce, waiting: most }: AnswerLineOptions): AnswerLine {
  const waiting = new Set<() => void>();
  let answering = 0;
  let refused = 0;
  const next = (): void => {
    const [first] = waiting;
    if (first === undefined) answering -= 1;
    else first();
  };
  const itsTurn = async (signal: AbortSignal): Promise<boolean> => new Promise((resolve) => {
    const settle = (isIn: boolean): void => {
      waiting.delete(begin);
      signal.removeEventListener("abort", leave);
      resolve(isIn);
    };
    const begin = (): void => { settle(true); };
    const leave = (): void => { settle(false); };
    waiting.add(begin);
    signal.addEventListener("abort", leave);
  });
  return {
    async run(signal, answer) {
      if (signal.aborted) return cancelled;
      if (answering < atOnce) answering += 1;
      else if (waiting.size >= most) {
        refused += 1;
        return tooMany;
      } else if (!await itsTurn(signal)) return cancelled;
      try {
        return await answer();
      } finally {
        setImmediate(next);
      }
    },
    stats: () => ({ answering, waiting: waiting.size, refused }),
  };
}
