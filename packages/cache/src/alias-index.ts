import { MinHeap } from "./min-heap.ts";
import type { NameRecord } from "./name-record.ts";
import { readName } from "./read-name.ts";

const NONE: readonly string[] = [];

/**
 * With more than this number of resources for one alias, they are kept in a heap to find the first
 * one.
 */
const FEW = 8;

/** The existing resources of each alias (S-ALIAS-1). */
export class AliasIndex {
  readonly #records = new Map<string, Set<NameRecord>>();
  /**
   * Heaps of the records of aliases with many resources; they may still have records that no longer
   * have the alias.
   */
  readonly #ordered = new Map<string, MinHeap<NameRecord>>();
  /**
   * Aliases that were removed although the resources of these records still list them (C-ALIAS-6).
   */
  readonly #ended = new Map<NameRecord, Set<string>>();

  /**
   * Returns the resource of an alias. If there are several, the first by name, so that replicas
   * agree.
   */
  first(key: string): NameRecord | undefined {
    const records = this.#records.get(key);
    if (records === undefined) return undefined;
    if (records.size > FEW) return this.#firstOfMany(key, records);
    let first: NameRecord | undefined;
    for (const record of records) {
      if (first === undefined || record.key < first.key) first = record;
    }
    return first;
  }

  /** Returns all resources that have an alias. */
  all(key: string): Iterable<NameRecord> {
    return this.#records.get(key) ?? [];
  }

  /** Ends an alias of a resource that still lists it, until the resource is put again. */
  end(key: string, record: NameRecord): void {
    this.#remove(key, record);
    const ended = this.#ended.get(record);
    if (ended === undefined) this.#ended.set(record, new Set([key]));
    else ended.add(key);
  }

  /** Restores the ended aliases of a resource that is put, and returns their keys. */
  restore(record: NameRecord): Iterable<string> {
    if (this.#ended.size === 0) return NONE;
    const ended = this.#ended.get(record) ?? NONE;
    this.#ended.delete(record);
    for (const key of ended) this.#add(key, record);
    return ended;
  }

  /**
   * Replaces the aliases of a resource that has changed. The ended aliases of an unchanged list
   * stay ended. Returns the keys concerned, old and new.
   */
  replace(
    record: NameRecord,
    old: readonly string[] = NONE,
    next: readonly string[] = NONE,
  ): Iterable<string> {
    if (old.length === 0 && next.length === 0) return NONE;
    const before = old.map((alias) => readName(alias).key);
    const after = next.map((alias) => readName(alias).key);
    if (old !== next) this.#ended.delete(record);
    const ended = this.#ended.get(record);
    for (const key of before) this.#remove(key, record);
    for (const key of after) if (ended?.has(key) !== true) this.#add(key, record);
    return new Set([...before, ...after]);
  }

  #firstOfMany(key: string, records: ReadonlySet<NameRecord>): NameRecord | undefined {
    const ordered = this.#ordered.get(key) ?? inOrder(records);
    this.#ordered.set(key, ordered);
    while (ordered.first !== undefined && !records.has(ordered.first)) ordered.pop();
    return ordered.first;
  }

  #add(key: string, record: NameRecord): void {
    const records = this.#records.get(key);
    if (records === undefined) this.#records.set(key, new Set([record]));
    else if (!records.has(record)) this.#addTo(key, records, record);
  }

  #addTo(key: string, records: Set<NameRecord>, record: NameRecord): void {
    records.add(record);
    const ordered = this.#ordered.get(key);
    ordered?.push(record);
    if (ordered !== undefined && ordered.size > 2 * records.size + 64) this.#ordered.delete(key);
  }

  #remove(key: string, record: NameRecord): void {
    const records = this.#records.get(key);
    records?.delete(record);
    if (records !== undefined && records.size <= FEW) this.#ordered.delete(key);
    if (records?.size === 0) this.#records.delete(key);
  }
}

function inOrder(records: Iterable<NameRecord>): MinHeap<NameRecord> {
  const heap = new MinHeap<NameRecord>((one, other) => one.key < other.key);
  for (const record of records) heap.push(record);
  return heap;
}
