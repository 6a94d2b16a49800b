import type { StateEntry } from "./state-entry.ts";

/** What a small resource and its entry take in memory beside its bytes, measured. */
const OVERHEAD = 2_048;

/** What newer entries of a type have replaced, until there is too much of it: by reference, so that somebody who is behind can be told what was before (B-CSDS-2). */
export class ReplacedEntries {
  readonly #most: number;
  /** Entries that know what they replaced, oldest first, and beside them its size: what was replaced long ago is not touched again. Before `#start` there are none: they would keep their resources until the queue is compacted. */
  #queue: (StateEntry | undefined)[] = [];
  #sizes: number[] = [];
  #start = 0;
  #bytes = 0;

  /** @param most - Bytes; the newest is kept however large it is. 0: nothing is kept */
  constructor(most: number) {
    this.#most = most;
  }

  /** An entry has replaced another. */
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
