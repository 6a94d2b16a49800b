import { interestKey, matchesConstraints, type Interest, type XdsError } from "@xdstp/core";
import { globOf, isGlob, nameKey } from "@xdstp/uri";

import { recordId, type SnapshotRecord } from "./record.ts";

/** A collection that is known completely. */
export interface StoredCollection {
  readonly space: string;
  readonly typeUrl: string;
  readonly interest: Interest;
  /** When upstream had sent all of it, in milliseconds since the epoch. */
  readonly at: number;
  /** The reason of upstream why it is empty (S-ERR-5). */
  readonly error?: XdsError;
  /** Id of its row. */
  readonly row: number;
  /** Bytes that it takes on disk; 0: it is not there yet. */
  length: number;
}

/** The records of one type, found by name, alias and glob; bodies stay on disk. */
export class TypeIndex implements Iterable<SnapshotRecord> {
  /** The same string for all records, which saves memory. */
  readonly typeUrl: string;
  readonly #records = new Map<string, SnapshotRecord>();
  /** Variants, by the key of their name. */
  readonly #variants = new Map<string, Set<SnapshotRecord>>();
  /** Complete collections, by the key of their name, and then by interest. */
  readonly #collections = new Map<string, Map<string, StoredCollection>>();
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

  /** The records of a name: itself, its variants, and those that have it as an alias. */
  of(key: string): readonly SnapshotRecord[] {
    const own = this.#records.get(key);
    return [
      ...(own === undefined ? [] : [own]),
      ...(this.#variants.get(key) ?? []),
      ...(this.#aliases.get(key) ?? []),
    ];
  }

  /** The records that an interest covers; with parameters only the variants that match. */
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

  *collections(): Generator<StoredCollection> {
    for (const all of this.#collections.values()) yield* all.values();
  }

  collection(interest: Interest): StoredCollection | undefined {
    return this.#collections.get(nameKey(interest.name))?.get(collectionId(interest));
  }

  /** Adds a collection, or replaces it. */
  setCollection(collection: StoredCollection): void {
    const key = nameKey(collection.interest.name);
    const all = this.#collections.get(key) ?? new Map<string, StoredCollection>();
    this.#collections.set(key, all.set(collectionId(collection.interest), collection));
  }

  deleteCollection({ interest }: Pick<StoredCollection, "interest">): void {
    const key = nameKey(interest.name);
    const all = this.#collections.get(key);
    all?.delete(collectionId(interest));
    if (all?.size === 0) this.#collections.delete(key);
  }

  /** The complete collections that have this record as a member. */
  collectionsOf({ key }: SnapshotRecord): readonly StoredCollection[] {
    const glob = globKey(key);
    return [
      ...(glob === undefined ? [] : (this.#collections.get(glob)?.values() ?? [])),
      ...(this.#collections.get("*")?.values() ?? []),
    ];
  }

  #places({
    key,
    variant,
    aliases,
  }: SnapshotRecord): readonly (readonly [Map<string, Set<SnapshotRecord>>, string])[] {
    const places: (readonly [Map<string, Set<SnapshotRecord>>, string])[] = [];
    const glob = globKey(key);
    if (glob !== undefined) places.push([this.#groups, glob]);
    if (variant !== undefined) places.push([this.#variants, key]);
    for (const alias of aliases)
      if (nameKey(alias) !== key) places.push([this.#aliases, nameKey(alias)]);
    return places;
  }
}

/** The key of the glob that covers a name. */
export function globKey(key: string): string | undefined {
  return key.startsWith("xdstp:") ? globOf(key) : undefined;
}

/** Identifies a collection within its type. */
export function collectionId(interest: Interest): string {
  return interestKey(interest, nameKey(interest.name));
}
