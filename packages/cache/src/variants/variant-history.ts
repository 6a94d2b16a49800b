import type { CacheState } from "../cache-state.ts";
import { NO_ENTRIES, type StateEntry } from "../state-entry.ts";

/**
 * What the topic of a name with variants has next to its newest entry: removed variants that its readers may have (S-DYN-5).
 * It serves a topic as the history of aliases does.
 */
export class VariantHistory {
  /** Revision at which one went last; 0 at first. */
  head = 0;
  /** Label of the transaction that moved `head`. */
  label: string | undefined;
  readonly former: Iterable<string> = [];
  readonly floor = 0;
  #removed: readonly StateEntry[] = NO_ENTRIES;
  /** What the arrays were made for. */
  #newest: StateEntry | undefined;
  #arrays: readonly (readonly StateEntry[])[] = [];

  /** The removals as of now, in the spelling of the topic. */
  follow(
    removed: readonly StateEntry[],
    { revision, label }: Pick<CacheState, "revision" | "label">,
    isWatched: boolean,
  ): void {
    const newest = removed.reduce((head, entry) => Math.max(head, entry.revision), 0);
    if (newest > this.head) {
      this.head = newest;
      this.label = isWatched && newest === revision ? label : undefined;
    }
    this.#removed = [...removed].sort((a, b) => a.revision - b.revision);
    this.#arrays = [];
  }

  /** What went after a revision, and the newest entry of the topic if it is newer; the same array for the same content. That nothing is left goes without saying where something went. */
  after(revision: number, newest: StateEntry): readonly StateEntry[] {
    // It may be one of these itself: the resource without constraints went.
    const removed = this.#removed.filter((entry) => entry.revision > revision);
    const isNews =
      newest.revision > revision &&
      !removed.includes(newest) &&
      (newest.resource !== undefined || newest.error !== undefined || removed.length === 0);
    if (removed.length === 0) return isNews ? newest.alone() : NO_ENTRIES;
    if (newest !== this.#newest) this.#arrays = [];
    this.#newest = newest;
    const array = isNews ? [...removed, newest] : removed;
    const known = this.#arrays.find(
      (other) =>
        other.length === array.length && other.every((entry, index) => entry === array[index]),
    );
    if (known === undefined) this.#arrays = [...this.#arrays, array];
    return known ?? array;
  }

  /** What went after a revision and is not said by the newest entry itself. */
  removedAfter(revision: number, newest: StateEntry): readonly StateEntry[] {
    return this.#removed.filter((entry) => entry.revision > revision && entry !== newest);
  }
}
