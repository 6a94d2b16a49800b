import type { StateEntry } from "./state-entry.ts";

/** What an entry costs beside its bytes, roughly. */
const OVERHEAD = 256;

/** What newer entries of a type have replaced, until there is too much of it: by reference, so that somebody who is behind can be told what was before (B-CSDS-2). */
export class ReplacedEntries {
  readonly #most: number;
  /** Entries that know what they replaced, oldest first. */
  #queue: StateEntry[] = [];
  #start = 0;
  #bytes = 0;

  /** @param most - Bytes; the newest is kept however large it is. 0: nothing is kept */
  constructor(most: number) {
    this.#most = most;
  }

  /** An entry has replaced another. */
  note(entry: StateEntry, old: StateEntry): void {
    if (this.#most === 0) return;
    entry.replaced = old;
    this.#queue.push(entry);
    this.#bytes += sizeOf(old);
    while (this.#bytes > this.#most && this.#start < this.#queue.length - 1) this.#drop();
    if (this.#start > 64 && this.#start > this.#queue.length / 2) this.#compact();
  }

  #drop(): void {
    const oldest = this.#queue[this.#start++];
    if (oldest?.replaced === undefined) return;
    this.#bytes -= sizeOf(oldest.replaced);
    oldest.replaced = undefined;
  }

  #compact(): void {
    this.#queue = this.#queue.slice(this.#start);
    this.#start = 0;
  }
}

function sizeOf({ resource }: StateEntry): number {
  return OVERHEAD + (resource?.wire.length ?? 0);
}
