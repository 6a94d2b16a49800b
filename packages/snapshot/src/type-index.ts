import { InterestMap, matchesConstraints, type Interest, type XdsError } from "@xdstp/core";
import { globOf, isGlob, nameKey } from "@xdstp/uri";

import { recordId, type SnapshotRecord } from "./record.ts";

/** A collection that is known completely. */
export interface StoredCollection {
  readonly space: string;
  readonly typeUrl: string;
  readonly interest: Interest;
  /** When upstream had sent the whole collection, in milliseconds since the epoch. */
  readonly at: number;
  /** The reason of upstream why it is empty (S-ERR-5). */
  readonly error?: XdsError;
  /** The id of its row. */
  readonly row: number;
  /** Bytes on disk. 0: it is not written yet. */
  length: number;
}

/** The records of one type, found by name, alias and glob. Bodies stay on disk. */
export class TypeIndex implements Iterable<SnapshotRecord> {
  /** The same string for all records, which saves memory. */
  readonly typeUrl: string;
  readonly #records = new Map<string, SnapshotRecord>();
  /** Variants, by the key of their name. */
  readonly #variants = new Map<string, Set<SnapshotRecord>>();
  /** Complete collections. */
  readonly #collections = new InterestMap<StoredCollection>();
  readonly #groups = new Map<string, Set<SnapshotRecord>>();
  readonly #aliases = new Map<string, Set<SnapshotRecord>>();

  constructor(typeUrl: string) {
    this.typeUrl = typeUrl;
  }

  [Symbol.iterator](): Iterator<SnapshotRecord> {
    return this.#records.values();
  }

  find(id: string): SnapshotRecord | undefined {
    return this.#records.get(id);
  }

  has(record: SnapshotRecord): boolean {
    return this.#records.get(recordId(record)) === record;
  }

  /** Adds a record and returns the one that it replaces. */
  set(record: SnapshotRecord): SnapshotRecord | undefined {
    const before = this.#records.get(recordId(record));
    if (before !== undefined) this.delete(before);
    this.#records.set(recordId(record), record);
    for (const [map, key] of this.#places(record)) {
      const found = map.get(key);
      if (found === undefined) map.set(key, new Set([record]));
      else found.add(record);
    }
    return before;
  }

  delete(record: SnapshotRecord): void {
    this.#records.delete(recordId(record));
    for (const [map, key] of this.#places(record)) {
      const found = map.get(key);
      found?.delete(record);
      if (found?.size === 0) map.delete(key);
    }
  }

  /**
   * Returns the records of a name: the record itself, its variants, and the records that have the
   * name as an alias.
   */
  of(key: string): readonly SnapshotRecord[] {
    const own = this.#records.get(key);
    return [
      ...(own === undefined ? [] : [own]),
      ...(this.#variants.get(key) ?? []),
      ...(this.#aliases.get(key) ?? []),
    ];
  }

  /** Returns the records that an interest covers; with parameters, only the variants that match. */
  covered(
    { name, parameters }: Interest,
    inWildcard: (name: string) => boolean,
  ): readonly SnapshotRecord[] {
    const found =
      name === "*"
        ? [...this.#records.values()].filter((record) => inWildcard(record.name))
        : name.startsWith("xdstp:") && isGlob(name)
          ? [...(this.#groups.get(nameKey(name)) ?? [])]
          : this.of(nameKey(name));
    return parameters === undefined
      ? found
      : found.filter(
          ({ variant }) =>
            variant === undefined || matchesConstraints(variant.constraints, parameters),
        );
  }

  collections(): Iterable<StoredCollection> {
    return this.#collections;
  }

  collection(interest: Interest): StoredCollection | undefined {
    return this.#collections.get(this.typeUrl, interest, nameKey(interest.name));
  }

  /** Adds a collection, or replaces it. */
  setCollection(collection: StoredCollection): void {
    const { interest } = collection;
    this.#collections.set(this.typeUrl, interest, nameKey(interest.name), collection);
  }

  deleteCollection({ interest }: Pick<StoredCollection, "interest">): void {
    this.#collections.delete(this.typeUrl, interest, nameKey(interest.name));
  }

  /** Returns the complete collections that have this record as a member. */
  collectionsOf({ key }: SnapshotRecord): readonly StoredCollection[] {
    return this.#collections.covering(this.typeUrl, key, globOf(key));
  }

  #places({
    key,
    variant,
    aliases,
  }: SnapshotRecord): readonly (readonly [Map<string, Set<SnapshotRecord>>, string])[] {
    const places: (readonly [Map<string, Set<SnapshotRecord>>, string])[] = [];
    const glob = globOf(key);
    if (glob !== undefined) places.push([this.#groups, glob]);
    if (variant !== undefined) places.push([this.#variants, key]);
    for (const alias of aliases)
      if (nameKey(alias) !== key) places.push([this.#aliases, nameKey(alias)]);
    return places;
  }
}
