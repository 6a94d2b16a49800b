import type { Change } from "./floor-responses.ts";

/** A stream, as far as it is written to. */
export interface Outlet {
  write(message: Buffer): unknown;
}

/** Streams of which each gets the next message when it has acknowledged the one before. */
export interface Coalescing {
  /** A stream that has been sent everything there was at the start. */
  add(stream: Outlet): void;
  /** Something came in: taken for an ACK, unread. */
  heard(stream: Outlet): void;
  change(change: Change): void;
}

interface Reader {
  /** The last change it was sent. */
  sent: number;
  /** The input that has to come before more may be sent. */
  unheard: number;
}

/**
 * The floor under changes that come faster than clients take them: the newest of each resource since the last message, one buffer for all that are at the same change.
 *
 * It writes once per turn of the event loop (`later`): to answer each ACK at once would starve the input of changes.
 */
export function createCoalescing(
  encode: (changes: readonly Change[]) => Buffer,
  later: (task: () => void) => void = setImmediate,
): Coalescing {
  const newest = new Map<number, Change & { readonly at: number }>();
  const readers = new Map<Outlet, Reader>();
  const messages = new Map<number, Buffer>();
  let head = 0;
  let scheduled = false;
  const messageSince = (sent: number): Buffer => {
    const known = messages.get(sent) ?? encode([...newest.values()].filter(({ at }) => at > sent));
    messages.set(sent, known);
    return known;
  };
  const flush = (): void => {
    scheduled = false;
    for (const [stream, reader] of readers) {
      if (reader.unheard > 0 || reader.sent === head) continue;
      stream.write(messageSince(reader.sent));
      reader.sent = head;
      reader.unheard = 1;
    }
  };
  const schedule = (): void => {
    if (!scheduled) later(flush);
    scheduled = true;
  };
  return {
    // The request itself is heard first, then the ACK of the first answer.
    add(stream) {
      readers.set(stream, { sent: 0, unheard: 2 });
    },
    heard(stream) {
      const reader = readers.get(stream);
      if (reader !== undefined && --reader.unheard <= 0 && reader.sent < head) schedule();
    },
    change(change) {
      newest.set(change.index, { ...change, at: ++head });
      messages.clear();
      schedule();
    },
  };
}
