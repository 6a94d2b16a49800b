import type { Entry } from "./resource.ts";

const NOTHING: readonly never[] = Object.freeze([]);

/**
 * A compacted log, the history of a topic of many names. It has each name once, at its newest revision, oldest first.
 *
 * Appending is O(1). Dead entries stay in the log until half of it is dead, and are removed then. An array is made when it is read, once for all readers in the same state.
 */
export class CompactedLog<E extends Pick<Entry, "revision">> {
  #entries: E[] = [];
  #dead = 0;
  /** Arrays by the index of their first entry. */
  #arrays: Map<number, readonly E[]> | undefined;
  readonly #isAlive: (entry: E) => boolean;
  readonly #onWork: (steps: number) => void;

  /**
   * @param isAlive - Returns false for an entry that has been replaced or has expired. Report each such entry once with {@link CompactedLog.bury} or {@link CompactedLog.forget}
   * @param onWork - Called with the number of entries that were visited, to measure the cost
   */
  constructor(isAlive: (entry: E) => boolean, onWork: (steps: number) => void = () => undefined) {
    this.#isAlive = isAlive;
    this.#onWork = onWork;
  }

  /** Number of entries that are alive. */
  get length(): number {
    return this.#entries.length - this.#dead;
  }

  /** Replaces all entries. The new entries are alive and in the order of their revisions. */
  reset(entries: E[]): void {
    this.#entries = entries;
    this.#dead = 0;
    this.#clearArrays();
  }

  /** Adds the newest entry. */
  append(entry: E): void {
    this.#entries.push(entry);
    this.#clearArrays();
    if (this.#dead > 64 + this.length) this.#compact();
  }

  /** Counts an entry that is dead. Arrays stay as they are until the next `append`. */
  bury(): void {
    this.#dead++;
  }

  /** Counts an entry that is dead, and removes it from all arrays that are read from now on. */
  forget(): void {
    this.#dead++;
    this.#clearArrays();
  }

  /**
   * Returns the entries that are alive and newer than a revision. It is the same array for all revisions between the same two entries, until the next `append` or `forget`.
   * @param share - Returns an array to use instead of a new one, for instance an equal array of another topic
   */
  after(revision: number, share?: (entries: readonly E[]) => readonly E[]): readonly E[] {
    const start = this.#firstAlive(this.#search(revision));
    if (start === this.#entries.length) return NOTHING;
    let array = this.#arrays?.get(start);
    if (array === undefined) {
      const entries = this.#entries.slice(start).filter(this.#isAlive);
      array = share?.(entries) ?? entries;
      this.#onWork(this.#entries.length - start);
      (this.#arrays ??= new Map<number, readonly E[]>()).set(start, array);
    }
    return array;
  }

  /** Returns the entries that are alive and for which `fits` is true, in a new array. */
  filter(fits: (entry: E) => boolean): readonly E[] {
    return this.#entries.filter((entry) => fits(entry) && this.#isAlive(entry));
  }

  #clearArrays(): void {
    if (this.#arrays !== undefined && this.#arrays.size > 0) this.#arrays.clear();
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
    for (
      let entry = this.#entries[index];
      entry !== undefined && !this.#isAlive(entry);
      entry = this.#entries[index]
    )
      index++;
    this.#onWork(index - start);
    return index;
  }

  #compact(): void {
    this.#onWork(this.#entries.length);
    this.#entries = this.#entries.filter(this.#isAlive);
    this.#dead = 0;
  }
}
