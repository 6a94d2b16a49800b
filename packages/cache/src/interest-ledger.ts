import { InterestMap, type Clock, type Interest, type Timer } from "@xdstp/core";

/** The changes of interest in one type during a turn. */
export interface InterestChange {
  readonly typeUrl: string;
  readonly added: readonly Interest[];
  readonly dropped: readonly DroppedInterest[];
  /**
   * Subscriptions that began and ended within the turn, so that feeds are not notified of them.
   * Resources may have come nevertheless.
   */
  readonly unheard: readonly DroppedInterest[];
}

/** An interest that its last reader has ended. */
export interface DroppedInterest {
  readonly interest: Interest;
  readonly key: string;
}

interface Row {
  readonly typeUrl: string;
  readonly interest: Interest;
  readonly key: string;
  count: number;
  announced: boolean;
  /** undefined: it does not linger. */
  linger: Linger | undefined;
}

/** The time at which feeds are notified that the last reader of a row has ended. */
interface Linger {
  readonly row: Row;
  readonly until: number;
}

/** The options of {@link InterestLedger}. */
export interface LedgerOptions {
  readonly clock: Clock;
  readonly lingerMs: number;
  /** Called at most once per turn, after it, with one change per type. */
  readonly onChange: (changes: readonly InterestChange[]) => void;
}

/**
 * Counts the readers of each interest. Feeds are notified of the first reader and, after the linger
 * time, of the end of the last one (B-RELAY-8).
 */
export class InterestLedger {
  readonly #options: LedgerOptions;
  readonly #rows = new InterestMap<Row>();
  readonly #dirty = new Set<Row>();
  /** In the order of time; it may still have rows that have a reader again. */
  #lingering: Linger[] = [];
  /** The number of those that still linger. */
  #alive = 0;
  #timer: Timer | undefined;
  #scheduled = false;
  #closed = false;

  constructor(options: LedgerOptions) {
    this.#options = options;
  }

  /**
   * Returns true if feeds are subscribed to this name, or are about to be, with any dynamic
   * parameters.
   */
  wants(typeUrl: string, key: string): boolean {
    return this.#rows.hasName(typeUrl, key);
  }

  open(typeUrl: string, interest: Interest, key: string): void {
    let row = this.#rows.get(typeUrl, interest, key);
    if (row === undefined) {
      row = { typeUrl, interest, key, count: 0, announced: false, linger: undefined };
      this.#rows.set(typeUrl, interest, key, row);
    }
    row.count++;
    this.#endLinger(row);
    this.#touch(row);
  }

  /** @param atOnce - True if the subscription does not linger */
  close(typeUrl: string, interest: Interest, key: string, atOnce = false): void {
    const row = this.#rows.get(typeUrl, interest, key);
    if (row === undefined || --row.count > 0) return;
    const { clock, lingerMs } = this.#options;
    if (lingerMs === 0 || atOnce || !row.announced) {
      this.#touch(row);
      return;
    }
    row.linger = { row, until: clock.now() + lingerMs };
    this.#lingering.push(row.linger);
    if (this.#lingering.length > 64 + 2 * ++this.#alive)
      this.#lingering = this.#lingering.filter((linger) => linger.row.linger === linger);
    this.#wait();
  }

  /**
   * The number of lingers that are stored; never much greater than the number of those that still
   * linger.
   */
  get lingering(): number {
    return this.#lingering.length;
  }

  /** Returns all subscriptions that feeds have been sent, for a feed that is added later. */
  *announced(): Iterable<InterestChange> {
    for (const typeUrl of this.#rows.types()) {
      const added = [...this.#rows.ofType(typeUrl)]
        .filter((row) => row.announced)
        .map((row) => row.interest);
      if (added.length > 0) yield { typeUrl, added, dropped: [], unheard: [] };
    }
  }

  /** Schedules a call of `onChange` after this turn. */
  schedule(): void {
    if (this.#scheduled || this.#closed) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      if (!this.#closed) this.#options.onChange(this.#settle());
    });
  }

  end(): void {
    this.#closed = true;
    this.#timer?.cancel();
  }

  #touch(row: Row): void {
    this.#dirty.add(row);
    this.schedule();
  }

  #settle(): readonly InterestChange[] {
    const changes = new Map<
      string,
      { added: Interest[]; dropped: DroppedInterest[]; unheard: DroppedInterest[] }
    >();
    for (const row of this.#dirty) {
      if (row.linger !== undefined) continue;
      const change = changes.get(row.typeUrl) ?? { added: [], dropped: [], unheard: [] };
      if (row.count === 0 || !row.announced) changes.set(row.typeUrl, change);
      if (row.count > 0 && !row.announced) change.added.push(row.interest);
      if (row.count === 0)
        (row.announced ? change.dropped : change.unheard).push({
          interest: row.interest,
          key: row.key,
        });
      row.announced = row.count > 0;
      if (row.count === 0) this.#rows.delete(row.typeUrl, row.interest, row.key);
    }
    this.#dirty.clear();
    return [...changes].map(([typeUrl, change]) => ({ typeUrl, ...change }));
  }

  /** Sets the timer. One timer suffices, since lingers end in the order in which they began. */
  #wait(): void {
    const next = this.#lingering[0];
    if (this.#timer !== undefined || next === undefined || this.#closed) return;
    this.#timer = this.#options.clock.after(
      Math.max(0, next.until - this.#options.clock.now()),
      () => {
        this.#timer = undefined;
        this.#endLingering();
      },
    );
  }

  #endLingering(): void {
    const now = this.#options.clock.now();
    const due = this.#lingering.findIndex(({ until }) => until > now);
    const over = this.#lingering.splice(0, due === -1 ? this.#lingering.length : due);
    for (const linger of over) {
      const { row } = linger;
      if (row.linger !== linger) continue;
      this.#endLinger(row);
      this.#touch(row);
    }
    this.#wait();
  }

  #endLinger(row: Row): void {
    if (row.linger === undefined) return;
    row.linger = undefined;
    this.#alive--;
  }
}
