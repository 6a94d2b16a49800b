import type { CacheState } from "./cache-state.ts";
import { NO_ENTRIES, type StateEntry } from "./state-entry.ts";

/** What a trail asks of its topic. */
export interface TrailHost {
  /** The newest entry of a name, as the topic shows it. */
  entryOf(key: string): StateEntry | undefined;
  /** The revision that is being made, and its label. */
  readonly state: Pick<CacheState, "revision" | "label">;
  /** Asks to be told when this name is removed or comes back, though the topic no longer shows it. */
  miss(key: string): void;
}

/**
 * Remembers what a topic showed under changing names, by its own name or by alias, and what of it does not exist any more,
 * so that a reader learns of each removal under the name it knows (S-ALIAS-1).
 */
export class AliasTrail {
  readonly #host: TrailHost;
  /** Key of the resource that the topic shows. */
  #shown: string | undefined;
  /** Names that it showed before, each with its removal if it has been removed since. Few, and kept as long as somebody watches. */
  readonly #former = new Map<string, StateEntry | undefined>();
  #removed: readonly StateEntry[] = NO_ENTRIES;
  #head = 0;
  #label: string | undefined;
  /** What the arrays were made for. */
  #newest: StateEntry | undefined;
  #arrays: readonly (readonly StateEntry[])[] = [];

  constructor(shown: string | undefined, host: TrailHost) {
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

  get former(): Iterable<string> {
    return this.#former.keys();
  }

  /** The topic shows this existing resource now, or none. */
  follow(target: string | undefined): void {
    if (this.#shown !== undefined && this.#shown !== target) {
      this.#former.set(this.#shown, undefined);
      this.#host.miss(this.#shown);
    }
    this.#shown = target;
    for (const [key, removal] of this.#former) {
      const entry = this.#host.entryOf(key);
      const isBack = key === target || entry?.resource !== undefined;
      this.#former.set(key, isBack ? undefined : entry?.tombstone === true ? entry : removal);
    }
    const removed = [...this.#former.values()].flatMap((entry) => entry ?? []).sort(byRevision);
    if (areEqual(removed, this.#removed)) return;
    this.#removed = removed;
    ({ revision: this.#head, label: this.#label } = this.#host.state);
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
    return this.#removed.filter((entry) => entry.revision > revision && entry.name !== newest.name);
  }
}

function areEqual(a: readonly StateEntry[], b: readonly StateEntry[]): boolean {
  return a.length === b.length && a.every((entry, index) => entry === b[index]);
}

function byRevision(a: StateEntry, b: StateEntry): number {
  return a.revision - b.revision;
}
