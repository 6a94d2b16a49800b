import type { CacheState } from "./cache-state.ts";
import { NO_ENTRIES, type StateEntry } from "./state-entry.ts";

/** What the history needs of its topic. */
export interface HistoryHost {
  /** The name itself. */
  readonly key: string;
  /** The newest entry of a name, as the topic shows it. */
  entryOf(key: string): StateEntry | undefined;
  /** The revision that is being made, and its label. */
  readonly state: Pick<CacheState, "revision" | "label">;
  /** Requests a notification when this name is removed or comes back, though the topic no longer shows it. */
  miss(key: string): void;
  /** Ends the notification. */
  leave(key: string): void;
}

interface Removed {
  readonly key: string;
  readonly entry: StateEntry;
}

/**
 * Remembers what a topic showed under changing names, by its own name or by alias, and what of it does not exist any more,
 * so that a reader learns of each removal under the name it knows (S-ALIAS-1).
 */
export class AliasHistory {
  readonly #host: HistoryHost;
  /** Key of the resource that the topic shows. */
  #shown: string | undefined;
  /** Names that it showed before, each with its removal if it has been removed since: as long as the topic has watchers, and the removal is in the window. */
  readonly #former = new Map<string, StateEntry | undefined>();
  /** The same removals, oldest first. */
  #removed: Removed[] = [];
  #floor = 0;
  #head = 0;
  #label: string | undefined;
  /** What the arrays were made for. */
  #newest: StateEntry | undefined;
  #arrays: readonly (readonly StateEntry[])[] = [];

  constructor(shown: string | undefined, host: HistoryHost) {
    this.#shown = shown;
    this.#host = host;
  }

  /** Revision at which something was removed, or came back, last; 0 at first. */
  get head(): number {
    return this.#head;
  }

  /** Label of the transaction that moved `head`. */
  get label(): string | undefined {
    return this.#label;
  }

  /** A reader that has not read up to this revision cannot learn any more what was removed. */
  get floor(): number {
    return this.#floor;
  }

  get former(): Iterable<string> {
    return this.#former.keys();
  }

  /**
   * The topic shows this existing resource now, or none. It costs the same however many it has shown.
   * @param changed - the name of which something has changed
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

  /** What was removed after a revision, and the newest entry of the topic if it is newer; the same array for the same content. */
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

  /** What was removed after a revision and is not said by the newest entry itself. */
  removedAfter(revision: number, newest: StateEntry): readonly StateEntry[] {
    const start = this.#removed.findLastIndex(({ entry }) => entry.revision <= revision) + 1;
    return this.#removed
      .slice(start)
      .flatMap(({ entry }) => (entry.name === newest.name ? [] : [entry]));
  }

  /** Whether a name that it showed before has been removed, or has come back. */
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

  /** Removals outside the window are dropped. The store drops the removal of the name itself too, the topic does not. */
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
