import { recordId, type SnapshotRecord } from "./record.ts";
import { Shelf, type StoredCollection } from "./shelf.ts";

/** All that is known of a snapshot without reading it: one shelf for each type of each space. */
export class SnapshotIndex implements Iterable<SnapshotRecord> {
  /** Bytes on disk of all of it. */
  bytes = 0;
  #lastRow = 0;
  readonly #shelves = new Map<string, Map<string, Shelf>>();

  *[Symbol.iterator](): Generator<SnapshotRecord> {
    for (const shelf of this.#all()) yield* shelf;
  }

  *collections(): Generator<StoredCollection> {
    for (const shelf of this.#all()) yield* shelf.collections();
  }

  shelf(space: string, typeUrl: string): Shelf {
    let types = this.#shelves.get(space);
    if (types === undefined) this.#shelves.set(space, (types = new Map<string, Shelf>()));
    let shelf = types.get(typeUrl);
    if (shelf === undefined) types.set(typeUrl, (shelf = new Shelf(typeUrl)));
    return shelf;
  }

  /** The id of a new row. */
  nextRow(): number {
    return ++this.#lastRow;
  }

  /** This id is in use. */
  noteRow(row: number): void {
    this.#lastRow = Math.max(this.#lastRow, row);
  }

  /** Takes the place of what was known of the name. */
  set(record: SnapshotRecord): void {
    const before = this.shelf(record.space, record.typeUrl).set(record);
    this.bytes += record.length - (before?.length ?? 0);
  }

  /** false: it is not there any more. */
  has(record: SnapshotRecord): boolean {
    return this.shelf(record.space, record.typeUrl).has(record);
  }

  find(record: SnapshotRecord): SnapshotRecord | undefined {
    return this.shelf(record.space, record.typeUrl).find(recordId(record));
  }

  delete(record: SnapshotRecord): void {
    if (!this.has(record)) return;
    this.shelf(record.space, record.typeUrl).delete(record);
    this.bytes -= record.length;
  }

  setCollection(collection: StoredCollection): void {
    this.noteRow(collection.row);
    const shelf = this.shelf(collection.space, collection.typeUrl);
    this.bytes += collection.length - (shelf.collection(collection.interest)?.length ?? 0);
    shelf.setCollection(collection);
  }

  /** false: it was not there. */
  deleteCollection({
    space,
    typeUrl,
    interest,
  }: Pick<StoredCollection, "space" | "typeUrl" | "interest">): boolean {
    const shelf = this.shelf(space, typeUrl);
    const found = shelf.collection(interest);
    if (found === undefined) return false;
    this.bytes -= found.length;
    shelf.deleteCollection(found);
    return true;
  }

  /** Collections that a name is in are not known completely any more. */
  tear(record: SnapshotRecord): readonly StoredCollection[] {
    const torn = this.shelf(record.space, record.typeUrl).collectionsOf(record);
    for (const collection of torn) this.deleteCollection(collection);
    return torn;
  }

  /** It takes more or less room on disk than before. */
  resize(one: SnapshotRecord | StoredCollection, length: number): void {
    const isIn =
      "interest" in one
        ? this.shelf(one.space, one.typeUrl).collection(one.interest) === one
        : this.has(one);
    if (isIn) this.bytes += length - one.length;
    one.length = length;
  }

  *#all(): Generator<Shelf> {
    for (const types of this.#shelves.values()) yield* types.values();
  }
}
