import { type Clock, createBackoff, type Timer } from "@xdstp/core";

/** Slows the answers to a server that repeats what was rejected (C-ACK-20). */
export interface RejectionPace {
  /** True while answers wait. */
  readonly waits: boolean;
  /** Notes a rejected response. `what` is equal for equal rejections. */
  rejected(what: string): void;
  /** Ends the wait, since there is something else to send. */
  hurry(): void;
  /** Forgets the rejections: something was accepted, or the stream is over. */
  forget(): void;
}

/**
 * The number of repetitions in a row that do not wait. One may have a reason, such as a name that
 * was requested again.
 */
const FREE = 1;

/** @param onOver - Called when a wait is over */
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
