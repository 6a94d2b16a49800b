import type { NameRecord } from "./name-record.ts";
import { readName } from "./read-name.ts";

const NONE: readonly string[] = [];

/** Which existing resources have which alias (S-ALIAS-1). */
export class AliasIndex {
  readonly #records = new Map<string, Set<NameRecord>>();

  /** The resource that an alias stands for: of several the first by name, so that replicas agree. */
  first(key: string): NameRecord | undefined {
    let first: NameRecord | undefined;
    for (const record of this.all(key)) {
      if (first === undefined || record.key < first.key) first = record;
    }
    return first;
  }

  /** All resources that have an alias. */
  all(key: string): Iterable<NameRecord> {
    return this.#records.get(key) ?? [];
  }

  /** Takes over the aliases of a changed resource. Returns the keys concerned, old and new. */
  replace(record: NameRecord, old: readonly string[] = NONE, next: readonly string[] = NONE): Iterable<string> {
    if (old.length === 0 && next.length === 0) return NONE;
    const before = old.map((alias) => readName(alias).key);
    const after = next.map((alias) => readName(alias).key);
    for (const key of before) this.#remove(key, record);
    for (const key of after) this.#add(key, record);
    return new Set([...before, ...after]);
  }

  #add(key: string, record: NameRecord): void {
    const records = this.#records.get(key);
    if (records === undefined) this.#records.set(key, new Set([record]));
    else records.add(record);
  }

  #remove(key: string, record: NameRecord): void {
    const records = this.#records.get(key);
    records?.delete(record);
    if (records?.size === 0) this.#records.delete(key);
  }
}
