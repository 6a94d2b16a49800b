import { InterestMap, type Clock, type Interest, type Timer } from "@xdstp/core";

/** What became of the interest in one type during a turn. */
export interface InterestChange {
  readonly typeUrl: string;
  readonly added: readonly Interest[];
  readonly dropped: readonly DroppedInterest[];
  /** Subscriptions that began and ended in the turn, so that feeds are sent neither; resources may have come nevertheless. */
  readonly unheard: readonly DroppedInterest[];
}

/** An interest that its last reader has given up. */
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

/** A row whose last reader has ended, and when feeds are notified of that. */
interface Linger {
  readonly row: Row;
  readonly until: number;
}

/** Options of {@link InterestLedger}. */
export interface LedgerOptions {
  readonly clock: Clock;
  readonly lingerMs: number;
  /** Called at most once per turn, after it, with one change per type. */
  readonly onChange: (changes: readonly InterestChange[]) => void;
}

/** Counts the readers of each interest, so that feeds are notified of the first and, after lingering, of the last (B-RELAY-8). */
export class InterestLedger {
  readonly #options: LedgerOptions;
  readonly #rows = new InterestMap<Row>();
  readonly #dirty = new Set<Row>();
  /** In order of time; also those that have a reader again. */
  #lingering: Linger[] = [];
  /** How many of them linger still. */
  #alive = 0;
  #timer: Timer | undefined;
  #scheduled = false;
  #closed = false;

  constructor(options: LedgerOptions) {
    this.#options = options;
  }

  /** Whether feeds have been, or are about to be, asked for this. Dynamic parameters do not narrow. */
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

  /** @param atOnce - It does not linger */
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

  /** How many are kept that linger, or did: never many more than linger. */
  get lingering(): number {
    return this.#lingering.length;
  }

  /** All subscriptions that feeds have been sent, for a feed that comes later. */
  *announced(): Iterable<InterestChange> {
    for (const typeUrl of this.#rows.types()) {
      const added = [...this.#rows.ofType(typeUrl)]
        .filter((row) => row.announced)
        .map((row) => row.interest);
      if (added.length > 0) yield { typeUrl, added, dropped: [], unheard: [] };
    }
  }

  /** Makes sure that `onChange` is called after this turn. */
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

  /** One timer for all that linger: they end in the order in which they began. */
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
