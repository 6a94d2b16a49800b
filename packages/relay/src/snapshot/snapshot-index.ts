import type { Interest } from "@xdstp/core";

import { recordId, type SnapshotRecord } from "./record.ts";
import { collectionId, Shelf, type StoredCollection } from "./shelf.ts";

/** All that is known of a snapshot without reading it: one shelf for each type of each space. */
export class SnapshotIndex implements Iterable<SnapshotRecord> {
  /** Bytes of the file that count. */
  bytes = 0;
  readonly #shelves = new Map<string, Map<string, Shelf>>();

  *[Symbol.iterator](): Generator<SnapshotRecord> {
    for (const shelf of this.#all()) yield* shelf;
  }

  *collections(): Generator<StoredCollection> {
    for (const shelf of this.#all()) yield* shelf.collections.values();
  }

  shelf(space: string, typeUrl: string): Shelf {
    let types = this.#shelves.get(space);
    if (types === undefined) this.#shelves.set(space, (types = new Map<string, Shelf>()));
    let shelf = types.get(typeUrl);
    if (shelf === undefined) types.set(typeUrl, (shelf = new Shelf(typeUrl)));
    return shelf;
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
    this.shelf(collection.space, collection.typeUrl).collections.set(collectionId(collection.interest), collection);
  }

  deleteCollection({ space, typeUrl, interest }: { readonly space: string; readonly typeUrl: string; readonly interest: Interest }): boolean {
    return this.shelf(space, typeUrl).collections.delete(collectionId(interest));
  }

  /** It is longer in the file than it was, or has a place there now. */
  place(record: SnapshotRecord, at: number, length: number): void {
    if (this.has(record)) this.bytes += length - record.length;
    record.at = at;
    record.length = length;
  }

  /** Something is lost, nobody knows of what: no collection is known completely. */
  tearAll(): void {
    for (const shelf of this.#all()) shelf.collections.clear();
  }

  *#all(): Generator<Shelf> {
    for (const types of this.#shelves.values()) yield* types.values();
  }
}
