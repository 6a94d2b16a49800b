import type { CacheState } from "./cache-state.ts";
import { NO_ENTRIES, type StateEntry } from "./state-entry.ts";

/** The topic, as its history uses it. */
export interface HistoryHost {
  /** The key of the topic's own name. */
  readonly key: string;
  /** Returns the newest entry of a name, as the topic shows it. */
  entryOf(key: string): StateEntry | undefined;
  /** The revision that is being made, and its label. */
  readonly state: Pick<CacheState, "revision" | "label">;
  /**
   * Requests a notification when this name is removed or exists again, though the topic no longer
   * shows it.
   */
  miss(key: string): void;
  /** Ends the notification. */
  leave(key: string): void;
}

interface Removed {
  readonly key: string;
  readonly entry: StateEntry;
}

/**
 * The names that a topic showed over time, under its own name or by alias, and the removals of
 * those that do not exist any more. A reader so learns of each removal under the name that it knows
 * (S-ALIAS-1).
 */
export class AliasHistory {
  readonly #host: HistoryHost;
  /** The key of the resource that the topic shows. */
  #shown: string | undefined;
  /**
   * Names that it showed before, each with its removal if it was removed since. They are kept while
   * the topic has watchers and the removal is in the window.
   */
  readonly #former = new Map<string, StateEntry | undefined>();
  /** The same removals, oldest first. */
  #removed: Removed[] = [];
  #floor = 0;
  #head = 0;
  #label: string | undefined;
  /** The newest entry for which the arrays were made. */
  #newest: StateEntry | undefined;
  #arrays: readonly (readonly StateEntry[])[] = [];

  constructor(shown: string | undefined, host: HistoryHost) {
    this.#shown = shown;
    this.#host = host;
  }

  /** The revision at which a former name was last removed, or existed again; 0 at first. */
  get head(): number {
    return this.#head;
  }

  /** The label of the transaction that moved `head`. */
  get label(): string | undefined {
    return this.#label;
  }

  /** A reader that has not read up to this revision cannot learn of all removals any more. */
  get floor(): number {
    return this.#floor;
  }

  get former(): Iterable<string> {
    return this.#former.keys();
  }

  /**
   * Notes that the topic shows this existing resource now, or none. The cost does not depend on how
   * many it has shown before.
   * @param changed - The name that has changed
   */
  follow(target: string | undefined, changed?: string): void {
    this.#forget();
    const before = this.#shown;
    this.#shown = target;
    if (before !== undefined && before !== target) {
      this.#former.set(before, undefined);
      this.#host.miss(before);
    }
    let isNews = false;
    for (const key of new Set([before, target, changed]))
      if (key !== undefined && this.#look(key)) isNews = true;
    if (isNews) ({ revision: this.#head, label: this.#label } = this.#host.state);
  }

  /**
   * Returns the removals after a revision, and the newest entry of the topic if it is newer; the
   * same array for the same content.
   */
  after(revision: number, newest: StateEntry): readonly StateEntry[] {
    const removed = this.removedAfter(revision, newest);
    const last = newest.revision > revision ? newest.alone() : NO_ENTRIES;
    if (removed.length === 0) return last;
    if (newest !== this.#newest) this.#arrays = [];
    this.#newest = newest;
    const array = [...removed, ...last].sort(byRevision);
    const known = this.#arrays.find((other) => areEqual(other, array));
    if (known === undefined) this.#arrays = [...this.#arrays, array];
    return known ?? array;
  }

  /** Returns the removals after a revision, except that of the name of the newest entry. */
  removedAfter(revision: number, newest: StateEntry): readonly StateEntry[] {
    const start = this.#removed.findLastIndex(({ entry }) => entry.revision <= revision) + 1;
    return this.#removed
      .slice(start)
      .flatMap(({ entry }) => (entry.name === newest.name ? [] : [entry]));
  }

  /**
   * Checks whether a name that it showed before was removed, or exists again. Returns true if that
   * has changed.
   */
  #look(key: string): boolean {
    if (!this.#former.has(key)) return false;
    const removal = this.#former.get(key);
    const entry = this.#host.entryOf(key);
    const isBack = key === this.#shown || entry?.resource !== undefined;
    const next = isBack ? undefined : entry?.tombstone === true ? entry : removal;
    if (next === removal) return false;
    this.#former.set(key, next);
    if (removal !== undefined) this.#removed = this.#removed.filter((one) => one.key !== key);
    if (next !== undefined) this.#removed.push({ key, entry: next });
    if (next !== undefined && next.revision < (this.#removed.at(-2)?.entry.revision ?? 0))
      this.#removed.sort((a, b) => byRevision(a.entry, b.entry));
    return true;
  }

  /**
   * Drops removals that have left the window. The topic keeps the removal of its own name, although
   * the store drops it too.
   */
  #forget(): void {
    if (this.#removed[0]?.entry.gone !== true) return;
    const isOver = ({ key, entry }: Removed): boolean => entry.gone && key !== this.#host.key;
    for (const removed of this.#removed) {
      if (!isOver(removed)) continue;
      this.#floor = Math.max(this.#floor, removed.entry.revision);
      this.#former.delete(removed.key);
      this.#host.leave(removed.key);
    }
    this.#removed = this.#removed.filter((removed) => !isOver(removed));
  }
}

function areEqual(a: readonly StateEntry[], b: readonly StateEntry[]): boolean {
  return a.length === b.length && a.every((entry, index) => entry === b[index]);
}

function byRevision(a: StateEntry, b: StateEntry): number {
  return a.revision - b.revision;
}

/**
 * The history of the topic of a name with variants: removed variants that its readers may have
 * (S-DYN-5). The topic uses it as it uses the history of aliases.
 */
export class VariantHistory {
  /** The revision at which a variant was last removed; 0 at first. */
  head = 0;
  /** The label of the transaction that moved `head`. */
  label: string | undefined;
  readonly former: Iterable<string> = [];
  readonly floor = 0;
  #removed: readonly StateEntry[] = NO_ENTRIES;
  /** The newest entry for which the arrays were made. */
  #newest: StateEntry | undefined;
  #arrays: readonly (readonly StateEntry[])[] = [];

  /** Sets the present removals, in the spelling of the topic. */
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

  /**
   * Returns the removals after a revision, and the newest entry of the topic if it is newer; the
   * same array for the same content. An entry that only says that no variant is left is omitted
   * next to a removal.
   */
  after(revision: number, newest: StateEntry): readonly StateEntry[] {
    // The newest entry may be a removal itself: the resource without constraints was removed.
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

  /** Returns the removals after a revision, except the newest entry itself. */
  removedAfter(revision: number, newest: StateEntry): readonly StateEntry[] {
    return this.#removed.filter((entry) => entry.revision > revision && entry !== newest);
  }
}
