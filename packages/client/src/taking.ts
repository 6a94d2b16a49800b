import {
  forwardSink,
  systemClock,
  whenDecided,
  type Clock,
  type Committed,
  type ResourceSink,
  type Timer,
} from "@xdstp/core";

import { deferred, type Deferred } from "./deferred.ts";

/** The readers that still have to consume an update: the streams read on only when there are none (C-ACK-13). */
export interface Taking {
  /** A reader has an update to consume. Returns a function to call once it has; calling it again does nothing. */
  begin(): () => void;
  /** The same sink, whose commits say when they are taken. */
  over(sink: ResourceSink): ResourceSink;
}

const noop = (): void => undefined;

/** One for all watches of a client. A reader that has not consumed an update after `patienceMs` is not waited for any more: a loop that was left open must not stop all others. */
export function createTaking(clock: Clock = systemClock, patienceMs = 30_000): Taking {
  let open = new Set<object>();
  let waiting: Deferred<undefined> | undefined;
  let timer: Timer | undefined;
  const readOn = (): void => {
    timer?.cancel();
    waiting?.resolve(undefined);
    waiting = undefined;
  };
  const giveUp = (): void => {
    open = new Set();
    readOn();
  };
  const wait = (): Deferred<undefined> => {
    timer = clock.after(patienceMs, giveUp);
    return deferred<undefined>();
  };
  const withTaken = (committed: Committed): Committed =>
    open.size === 0 ? committed : { ...committed, taken: (waiting ??= wait()).promise.then(noop) };
  const over = (given: ResourceSink): ResourceSink =>
    forwardSink(given, (sink) => ({
      commit: (transaction) => whenDecided(sink.commit(transaction), withTaken),
    }));
  return {
    begin() {
      const one = {};
      open.add(one);
      return () => {
        if (open.delete(one) && open.size === 0) readOn();
      };
    },
    over,
  };
}
