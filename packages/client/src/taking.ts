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

/** Who has still to take an update: the streams read on only when nobody has (C-ACK-13). */
export interface Taking {
  /** Somebody has an update before them. Returns a function to call once they have taken it; calling it again does nothing. */
  begin(): () => void;
  /** The same sink, whose commits say when they are taken. */
  over(sink: ResourceSink): ResourceSink;
}

const noop = (): void => undefined;

/** One for all watches of a client. Who has not taken an update `patienceMs` after somebody waits for it is not waited for any more: a loop that was left open must not stop all others. */
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
