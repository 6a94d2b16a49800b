import type { StateEntry } from "./state-entry.ts";

/** Bytes of memory of a small resource and its entry, in addition to the bytes of the resource. Measured. */
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

  /** @param most - Bytes. The newest replaced entry is kept whatever its size. 0: nothing is kept */
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
