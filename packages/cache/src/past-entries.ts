import type { NameRecord } from "./name-record.ts";
import type { StateEntry } from "./state-entry.ts";

/** The limits on removals that are kept. */
export interface WindowLimits {
  /** The time for which a removal is kept, in milliseconds. */
  readonly ms: number;
  readonly count: number;
}

interface Tombstone {
  readonly record: NameRecord;
  readonly entry: StateEntry;
  readonly at: number;
}

/** The removals of a type, oldest first, until they leave the window. */
export class TombstoneWindow {
  #queue: Tombstone[] = [];
  #start = 0;
  #alive = 0;
  readonly #limits: WindowLimits;
  readonly #onDrop: (record: NameRecord, entry: StateEntry) => void;

  constructor(limits: WindowLimits, onDrop: (record: NameRecord, entry: StateEntry) => void) {
    this.#limits = limits;
    this.#onDrop = onDrop;
  }

  /** The number of removals that are still the newest state of their name. */
  get size(): number {
    return this.#alive;
  }

  add(record: NameRecord, entry: StateEntry, now: number): void {
    this.#queue.push({ record, entry, at: now });
    this.#alive++;
    if (this.#queue.length > 64 + 2 * this.#alive) this.#compact();
  }

  /** Called when one of them is no longer the newest state of its name. */
  supersede(): void {
    this.#alive--;
  }

  /** Drops removals that are too old or too many. */
  expire(now: number): void {
    for (;;) {
      const oldest = this.#queue[this.#start];
      if (oldest === undefined) return;
      const superseded = oldest.entry.dead;
      if (!superseded && this.#alive <= this.#limits.count && oldest.at + this.#limits.ms > now)
        return;
      this.#start++;
      if (superseded) continue;
      this.#alive--;
      this.#onDrop(oldest.record, oldest.entry);
    }
  }

  #compact(): void {
    this.#queue = this.#queue.slice(this.#start).filter(({ entry }) => !entry.dead);
    this.#start = 0;
  }
}

/**
 * The memory in bytes that a small resource and its entry take besides the bytes of the resource.
 * Measured.
 */
const OVERHEAD = 2_048;

/** Keeps the entries of a type that newer ones have replaced, up to a number of bytes. A newer entry refers to the one that it replaced, so client status can show what a client that is behind still has (B-CSDS-2). */
export class ReplacedEntries {
  readonly #most: number;
  /** Entries that refer to a replaced one, oldest first. Those before `#start` are undefined, so that their resources are released before the queue is compacted. */
  #queue: (StateEntry | undefined)[] = [];
  /** The size of each replaced entry, at the index of its successor in `#queue`. */
  #sizes: number[] = [];
  #start = 0;
  #bytes = 0;

  /**
   * @param most - The limit in bytes. The newest replaced entry is kept whatever its size. 0:
   * nothing is kept
   */
  constructor(most: number) {
    this.#most = most;
  }

  /** Notes that `entry` has replaced `old`. */
  note(entry: StateEntry, old: StateEntry): void {
    if (this.#most === 0) return;
    const size = OVERHEAD + (old.resource?.bare ?? 0);
    entry.replaced = old;
    this.#queue.push(entry);
    this.#sizes.push(size);
    this.#bytes += size;
    while (this.#bytes > this.#most && this.#start < this.#queue.length - 1) this.#drop();
    if (this.#start > 1_024 && this.#start > this.#queue.length / 2) this.#compact();
  }

  #drop(): void {
    const oldest = this.#queue[this.#start];
    if (oldest !== undefined) oldest.replaced = undefined;
    this.#queue[this.#start] = undefined;
    this.#bytes -= this.#sizes[this.#start] ?? 0;
    this.#start++;
  }

  #compact(): void {
    this.#queue = this.#queue.slice(this.#start);
    this.#sizes = this.#sizes.slice(this.#start);
    this.#start = 0;
  }
}
