import { type Clock, createBackoff, type Timer } from "@xdstp/core";

/** Slows the answers to a server that sends again and again what was rejected (C-ACK-20). */
export interface RejectionPace {
  /** Answers wait for now. */
  readonly waits: boolean;
  /** A response was rejected. `what` is equal for those that are the same. */
  rejected(what: string): void;
  /** There is more to say than that: nothing waits any longer. */
  hurry(): void;
  /** Something was accepted, or the stream is over: what was rejected is forgotten. */
  forget(): void;
}

/** The second repetition in a row is the first one that waits: for one there may be a reason, such as a name that was requested again. */
const FREE = 1;

/** @param onOver - the wait is over */
export function createRejectionPace(
  clock: Clock,
  random: () => number,
  onOver: () => void,
): RejectionPace {
  const backoff = createBackoff({ initialMs: 1_000, factor: 2, maxMs: 10_000 }, random);
  let last = "";
  let repeated = 0;
  let timer: Timer | undefined;
  const hurry = (): void => {
    timer?.cancel();
    timer = undefined;
  };
  const forget = (): void => {
    hurry();
    backoff.reset();
    last = "";
    repeated = 0;
  };
  return {
    get waits() {
      return timer !== undefined;
    },
    rejected(what) {
      if (what !== last) forget();
      else repeated++;
      last = what;
      if (repeated <= FREE || timer !== undefined) return;
      timer = clock.after(backoff.next(), () => {
        timer = undefined;
        onOver();
      });
    },
    hurry,
    forget,
  };
}
