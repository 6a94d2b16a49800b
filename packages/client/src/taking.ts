import {
  forwardSink,
  systemClock,
  whenDecided,
  type Clock,
  type Committed,
  type ResourceSink,
} from "@xdstp/core";

/** The readers that still have to consume an update. A stream reads its next response only after the readers of its last update have consumed it (C-ACK-13). */
export interface Taking {
  /** Registers an update that a reader has to consume. Streams do not wait for an update outside of a commit, such as an error of a server. */
  begin(): Unread;
  /** Wraps a sink. Its commits report in `taken` when their readers have consumed them. */
  over(sink: ResourceSink): ResourceSink;
}

/** An update that a reader has not consumed. */
export interface Unread {
  /** Reports that a newer update has replaced this one. The commit of the newer update waits as well. */
  renew(): void;
  /** Reports that the reader has consumed the update. Another call does nothing. */
  consumed(): void;
}

/** A reader with an update, and the commits that wait for it. */
interface Reader {
  readonly holds: Set<Hold>;
  /** True after the update was consumed, or after the time for it is over. Then no commit waits for the reader. */
  isLeft: boolean;
}

/** A commit, and the readers that it waits for. */
interface Hold {
  readonly readers: Set<Reader>;
  readOn: () => void;
}

const noop = (): void => undefined;

/**
 * Creates one `Taking` for all watches of a client. A commit waits only for the readers that it has an update for, so a loop that stops reading resources of one server does not delay the stream of another server.
 * A commit waits at most `patienceMs` for a reader, so that one reader does not stop all others of its stream.
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
    const { promise, resolve } = Promise.withResolvers<undefined>();
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
