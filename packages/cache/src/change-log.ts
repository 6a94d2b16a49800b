import { NO_ENTRIES, type StateEntry } from "./state-entry.ts";

/**
 * A compacted log: each name once, at its newest revision, oldest first.
 *
 * Appending is O(1); dead entries are marked by their own flag, which all logs share, and are swept out when half of the log is dead.
 */
export class ChangeLog {
  #entries: StateEntry[] = [];
  #dead = 0;
  readonly #arrays = new Map<number, readonly StateEntry[]>();
  readonly #onWork: (steps: number) => void;

  constructor(onWork: (steps: number) => void) {
    this.#onWork = onWork;
  }

  get length(): number {
    return this.#entries.length - this.#dead;
  }

  /** Starts again with entries in order of revision, all of them alive. */
  reset(entries: StateEntry[]): void {
    this.#entries = entries;
    this.#dead = 0;
    this.#arrays.clear();
  }

  append(entry: StateEntry): void {
    this.#entries.push(entry);
    if (this.#arrays.size > 0) this.#arrays.clear();
    if (this.#dead > 64 + this.length) this.#compact();
  }

  /** An entry of the log has died. */
  bury(): void {
    this.#dead++;
  }

  /** What is alive and newer; the same array for all revisions between the same two entries, until the next `append`. */
  after(revision: number): readonly StateEntry[] {
    const start = this.#firstAlive(this.#search(revision));
    if (start === this.#entries.length) return NO_ENTRIES;
    let array = this.#arrays.get(start);
    if (array === undefined) {
      array = this.#entries.slice(start).filter((entry) => !entry.dead);
      this.#onWork(this.#entries.length - start);
      this.#arrays.set(start, array);
    }
    return array;
  }

  /** All that is alive and has a resource. */
  members(): readonly StateEntry[] {
    return this.#entries.filter((entry) => !entry.dead && entry.resource !== undefined);
  }

  /** All that is alive and says that something went. */
  tombstones(): readonly StateEntry[] {
    return this.#entries.filter((entry) => !entry.dead && entry.tombstone);
  }

  #search(revision: number): number {
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#entries[middle]?.revision ?? 0) > revision) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  #firstAlive(start: number): number {
    let index = start;
    while (this.#entries[index]?.dead === true) index++;
    this.#onWork(index - start);
    return index;
  }

  #compact(): void {
    this.#onWork(this.#entries.length);
    this.#entries = this.#entries.filter((entry) => !entry.dead);
    this.#dead = 0;
  }
}
