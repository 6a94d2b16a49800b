import { recordId, type SnapshotRecord } from "./record.ts";
import { TypeIndex, type StoredCollection } from "./type-index.ts";

/** The records of a snapshot without bodies: one index for each type of each tenant. */
export class SnapshotIndex implements Iterable<SnapshotRecord> {
  /** Bytes of all rows on disk. */
  bytes = 0;
  #lastRow = 0;
  readonly #types = new Map<string, Map<string, TypeIndex>>();

  *[Symbol.iterator](): Generator<SnapshotRecord> {
    for (const index of this.#all()) yield* index;
  }

  *collections(): Generator<StoredCollection> {
    for (const index of this.#all()) yield* index.collections();
  }

  typeIndex(space: string, typeUrl: string): TypeIndex {
    let types = this.#types.get(space);
    if (types === undefined) this.#types.set(space, (types = new Map<string, TypeIndex>()));
    let index = types.get(typeUrl);
    if (index === undefined) types.set(typeUrl, (index = new TypeIndex(typeUrl)));
    return index;
  }

  /** Returns an id for a new row. */
  nextRow(): number {
    return ++this.#lastRow;
  }

  /** Reserves an id that is in the database. */
  noteRow(row: number): void {
    this.#lastRow = Math.max(this.#lastRow, row);
  }

  /** Adds a record, or replaces the one of its name. */
  set(record: SnapshotRecord): void {
    const before = this.typeIndex(record.space, record.typeUrl).set(record);
    this.bytes += record.length - (before?.length ?? 0);
  }

  /** Returns true if this record is the current one of its name. */
  has(record: SnapshotRecord): boolean {
    return this.typeIndex(record.space, record.typeUrl).has(record);
  }

  find(record: SnapshotRecord): SnapshotRecord | undefined {
    return this.typeIndex(record.space, record.typeUrl).find(recordId(record));
  }

  delete(record: SnapshotRecord): void {
    if (!this.has(record)) return;
    this.typeIndex(record.space, record.typeUrl).delete(record);
    this.bytes -= record.length;
  }

  setCollection(collection: StoredCollection): void {
    this.noteRow(collection.row);
    const index = this.typeIndex(collection.space, collection.typeUrl);
    this.bytes += collection.length - (index.collection(collection.interest)?.length ?? 0);
    index.setCollection(collection);
  }

  /** Returns true if the collection was in the index. */
  deleteCollection({
    space,
    typeUrl,
    interest,
  }: Pick<StoredCollection, "space" | "typeUrl" | "interest">): boolean {
    const index = this.typeIndex(space, typeUrl);
    const found = index.collection(interest);
    if (found === undefined) return false;
    this.bytes -= found.length;
    index.deleteCollection(found);
    return true;
  }

  /** Removes the collections that have this record as a member, and returns them: they are not complete any more. */
  tear(record: SnapshotRecord): readonly StoredCollection[] {
    const torn = this.typeIndex(record.space, record.typeUrl).collectionsOf(record);
    for (const collection of torn) this.deleteCollection(collection);
    return torn;
  }

  /** Sets the bytes that a record or a collection takes on disk. */
  resize(one: SnapshotRecord | StoredCollection, length: number): void {
    const isIn =
      "interest" in one
        ? this.typeIndex(one.space, one.typeUrl).collection(one.interest) === one
        : this.has(one);
    if (isIn) this.bytes += length - one.length;
    one.length = length;
  }

  *#all(): Generator<TypeIndex> {
    for (const types of this.#types.values()) yield* types.values();
  }
}
