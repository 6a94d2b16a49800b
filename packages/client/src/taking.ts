import type { Committed, ResourceSink } from "@xdstp/core";

import { deferred, type Deferred } from "./deferred.ts";

/** Who has still to take an update: the streams read on only when nobody has (C-ACK-13). */
export interface Taking {
  /** Somebody has an update before them. Returns a function to call once they have taken it; calling it again does nothing. */
  begin(): () => void;
  /** The same sink, whose commits say when they are taken. */
  over(sink: ResourceSink): ResourceSink;
}

const noop = (): void => undefined;

/** One for all watches of a client. */
export function createTaking(): Taking {
  let open = 0;
  let waiting: Deferred<undefined> | undefined;
  const end = (): void => {
    open--;
    if (open > 0) return;
    waiting?.resolve(undefined);
    waiting = undefined;
  };
  const withTaken = (committed: Committed): Committed => (open === 0 ? committed : { ...committed, taken: (waiting ??= deferred<undefined>()).promise.then(noop) });
  return {
    begin() {
      open++;
      let ended = false;
      return () => {
        if (ended) return;
        ended = true;
        end();
      };
    },
    over: (sink) => ({
      commit(transaction) {
        const committed = sink.commit(transaction);
        return committed instanceof Promise ? committed.then(withTaken) : withTaken(committed);
      },
      held: (typeUrl, interest) => sink.held(typeUrl, interest),
      unavailable: (scope, error) => { sink.unavailable(scope, error); },
    }),
  };
}
