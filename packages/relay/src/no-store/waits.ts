import { InterestMap, type Interest, type Transaction } from "@xdstp/core";
import { nameKey } from "@xdstp/uri";

import type { Wait } from "./fresh-topic.ts";

interface Row extends Wait {
  readonly interest: Interest;
}

/** What upstream was asked again, until it has answered. Whoever asks for the same meanwhile waits for the same answer. */
export class Waits {
  readonly #rows = new InterestMap<Row>();
  /** What is to be asked when the turn is over. */
  readonly #due = new Map<string, Interest[]>();
  readonly #ask: (typeUrl: string, interests: readonly Interest[]) => void;

  /** @param ask - Called after a turn with what is new in it */
  constructor(ask: (typeUrl: string, interests: readonly Interest[]) => void) {
    this.#ask = ask;
  }

  /** The wait for an interest: one that is there, or a new one. */
  of(typeUrl: string, interest: Interest): Wait {
    const key = nameKey(interest.name);
    const known = this.#rows.get(typeUrl, interest, key);
    // One that all have left was perhaps never answered.
    if (known !== undefined && known.topics.size > 0) return known;
    const row: Row = { interest, over: false, topics: new Set() };
    this.#rows.set(typeUrl, interest, key, row);
    this.#schedule(typeUrl, interest);
    return row;
  }

  /** Upstream has sent this: its waiting subscribers see what is cached now. */
  note({ put = [], remove = [], complete = [], settled = [] }: Transaction): void {
    if (this.#rows.size === 0) return;
    for (const { typeUrl, resource, as } of put)
      for (const name of [as ?? resource.name, ...(resource.aliases ?? [])])
        this.#end(typeUrl, nameKey(name));
    for (const { typeUrl, name } of remove) this.#end(typeUrl, nameKey(name));
    for (const { typeUrl, interest } of [...complete, ...settled])
      this.#end(typeUrl, nameKey(interest.name));
  }

  /** It has no subscribers any more. */
  drop(typeUrl: string, interest: Interest): void {
    if (this.#rows.size > 0) this.#rows.delete(typeUrl, interest, nameKey(interest.name));
  }

  #end(typeUrl: string, key: string): void {
    const rows = this.#rows.ofName(typeUrl, key);
    for (const { interest } of rows) this.#rows.delete(typeUrl, interest, key);
    for (const row of rows) {
      row.over = true;
      for (const topic of row.topics) topic.wake();
    }
  }

  #schedule(typeUrl: string, interest: Interest): void {
    this.#due.set(typeUrl, [...(this.#due.get(typeUrl) ?? []), interest]);
    if (this.#due.size > 1 || (this.#due.get(typeUrl)?.length ?? 0) > 1) return;
    queueMicrotask(() => {
      const due = [...this.#due];
      this.#due.clear();
      for (const [type, interests] of due) this.#ask(type, interests);
    });
  }
}
