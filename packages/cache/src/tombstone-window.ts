import type { NameRecord } from "./name-record.ts";
import type { StateEntry } from "./state-entry.ts";

/** How long, and how many, removals are remembered. */
export interface WindowLimits {
  /** Milliseconds. */
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

  /** Removals that are still the newest state of their name. */
  get size(): number {
    return this.#alive;
  }

  add(record: NameRecord, entry: StateEntry, now: number): void {
    this.#queue.push({ record, entry, at: now });
    this.#alive++;
    if (this.#queue.length > 64 + 2 * this.#alive) this.#compact();
  }

  /** One of them is no longer the newest state of its name. */
  supersede(): void {
    this.#alive--;
  }

  /** Drops what is too old or too much. */
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
