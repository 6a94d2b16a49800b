import {
  forwardSink,
  systemClock,
  whenDecided,
  type Clock,
  type Committed,
  type ResourceSink,
} from "@xdstp/core";

import { deferred } from "./deferred.ts";

/** The readers that still have to consume an update: a stream reads on only when there are none of its own (C-ACK-13). */
export interface Taking {
  /** A reader has an update to consume. What comes outside of a commit, such as an error of a server, no stream waits for. */
  begin(): Unread;
  /** The same sink, whose commits say when they are taken. */
  over(sink: ResourceSink): ResourceSink;
}

/** An update that a reader has not consumed. */
export interface Unread {
  /** A newer update has replaced it: the commit that brought this one waits too. */
  renew(): void;
  /** The reader has consumed it. Another call does nothing. */
  consumed(): void;
}

/** A reader with an update: what waits for it. */
interface Reader {
  readonly holds: Set<Hold>;
  /** It is not waited for any more: until it has consumed the update, nothing waits for it. */
  isLeft: boolean;
}

/** A commit, and the readers that it waits for. */
interface Hold {
  readonly readers: Set<Reader>;
  readOn: () => void;
}

const noop = (): void => undefined;

/**
 * One for all watches of a client. A commit waits for the readers that it has an update for, and for no others: a loop that was left open on what one server gives must not hold up the stream of another server.
 * A reader that has not consumed an update after `patienceMs` is not waited for any more: it must not stop all others of its stream either.
 */
export function createTaking(clock: Clock = systemClock, patienceMs = 30_000): Taking {
  let current: Hold | undefined;
  const add = (reader: Reader, hold: Hold): void => {
    hold.readers.add(reader);
    reader.holds.add(hold);
  };
  const release = (reader: Reader): void => {
    for (const hold of reader.holds) {
      hold.readers.delete(reader);
      if (hold.readers.size === 0) hold.readOn();
    }
    reader.holds.clear();
  };
  const wait = (hold: Hold): Promise<void> => {
    const { promise, resolve } = deferred<undefined>();
    const timer = clock.after(patienceMs, () => {
      for (const reader of hold.readers) {
        reader.isLeft = true;
        release(reader);
      }
    });
    hold.readOn = () => {
      timer.cancel();
      resolve(undefined);
    };
    return promise.then(noop);
  };
  const withTaken = (committed: Committed, hold: Hold): Committed =>
    hold.readers.size === 0 ? committed : { ...committed, taken: wait(hold) };
  const over = (given: ResourceSink): ResourceSink =>
    forwardSink(given, (sink) => ({
      commit(transaction) {
        const outer = current;
        const hold: Hold = { readers: new Set(), readOn: noop };
        current = hold;
        try {
          return whenDecided(sink.commit(transaction), (committed) => withTaken(committed, hold));
        } finally {
          current = outer;
        }
      },
    }));
  return {
    begin() {
      const reader: Reader = { holds: new Set(), isLeft: false };
      const renew = (): void => {
        if (!reader.isLeft && current !== undefined) add(reader, current);
      };
      renew();
      return {
        renew,
        consumed() {
          reader.isLeft = true;
          release(reader);
        },
      };
    },
    over,
  };
}
