import { crc32 } from "node:zlib";

import { readResource, type ReceivedResource } from "@xdstp/protocol/client";
import {
  systemClock,
  XdsError,
  type Clock,
  type Interest,
  type Resource,
  type StoredResource,
} from "@xdstp/core";
import { memberTypeOf } from "@xdstp/uri";

import { databaseOf } from "./database-writer.ts";
import { Deadlines } from "./deadlines.ts";
import { readRow, rowOfCollection, rowOfRecord, withExpiry } from "./facts.ts";
import { loadSnapshot } from "./load-snapshot.ts";
import { makePrivateDirectory, sizeOf, SnapshotError, textOf } from "./private-files.ts";
import {
  createRecord,
  type RecordFacts,
  type Row,
  type RowChange,
  sealedFor,
  type SnapshotRecord,
} from "./record.ts";
import { createSeal, type Seal } from "./seal.ts";
import type { StoredCollection } from "./type-index.ts";
import type { Served, Snapshot, SnapshotEvent, SnapshotOptions } from "./snapshot.ts";
import { threadDisk, type OpenDisk } from "./snapshot-disk.ts";
import { SnapshotInUse, acquireLock, type SnapshotLock } from "./snapshot-lock.ts";
import { SnapshotIndex } from "./snapshot-index.ts";
import { isDamage, SnapshotReader } from "./database.ts";
import { SnapshotWriter, type Op } from "./snapshot-writer.ts";

/** The default types of secrets. */
const SECRETS: readonly string[] = [
  "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret",
];

/**
 * Milliseconds after a start in which no record is evicted: clients need this time to subscribe
 * again.
 */
const GRACE_MS = 600_000;

/** The minimum time between two evictions, in milliseconds: each reads all records. */
const EVICT_MS = 60_000;

/** Returns true if a record or a collection is subscribed. */
export type IsSubscribed = (one: SnapshotRecord | StoredCollection) => boolean;

/** A record with its resource, as upstream sent it. */
export interface RestoredRecord {
  readonly record: SnapshotRecord;
  readonly resource: Resource;
}

/** The storage of a snapshot: an index in memory of one database. */
export class SnapshotStore {
  readonly index: SnapshotIndex = new SnapshotIndex();
  readonly clock: Clock;
  /** One for each cache. Records without subscribers may be evicted. */
  readonly subscribers: Set<IsSubscribed> = new Set<IsSubscribed>();
  /** One for each cache: returns the interests that it serves from the snapshot now. */
  readonly servings: Set<() => Iterable<Served>> = new Set<() => Iterable<Served>>();
  readonly #dir: string;
  readonly #maxBytes: number;
  readonly #seal: Seal | undefined;
  readonly #secretTypes: ReadonlySet<string>;
  #evictAt: number;
  readonly #tell: (event: SnapshotEvent) => void;
  readonly #writer: SnapshotWriter;
  readonly #reader: SnapshotReader;
  readonly #lock: SnapshotLock | undefined;
  readonly #deadlines: Deadlines;
  #closed = false;

  constructor(
    {
      dir,
      maxBytes = 512 << 20,
      secretKey,
      secretTypes = SECRETS,
      clock = systemClock,
      onEvent,
    }: SnapshotOptions,
    openDisk: OpenDisk = threadDisk,
  ) {
    this.clock = clock;
    this.#dir = dir;
    this.#maxBytes = maxBytes;
    this.#seal = secretKey && createSeal(secretKey);
    this.#secretTypes = new Set(secretTypes);
    this.#evictAt = clock.now() + GRACE_MS;
    this.#tell = (event) => onEvent?.(event);
    this.#deadlines = new Deadlines(clock, (record) => {
      this.remove(record);
    });
    this.#lock = lockOf(dir, clock);
    const { database, file, exposed } = this.#load();
    const path = databaseOf(dir);
    this.#reader = new SnapshotReader(path, database);
    this.#writer = new SnapshotWriter(
      {
        dir,
        path,
        disk: openDisk(dir, this.#lock?.file),
        index: this.index,
        clock,
        encode: (op) => this.#encode(op),
        tell: this.#tell,
        evict: () => {
          this.#evict();
        },
        lose: (lost) => {
          this.#lose(lost);
        },
        turn: () => {
          this.#reader.reopen();
        },
        letGo: () => {
          this.#reader.close();
        },
      },
      file,
    );
    for (const record of exposed) {
      this.#tear(record);
      this.#delete(record.row);
    }
    if (exposed.length > 0) this.#writer.purge();
    for (const record of this.index) this.#deadlines.note(record);
  }

  status(): ReturnType<Snapshot["status"]> {
    const { waiting, writtenAt, trouble } = this.#writer;
    const counts = { stored: 0, withheld: 0, locked: 0 };
    for (const { state } of this.index) counts[state]++;
    return {
      dir: this.#dir,
      resources: counts.stored,
      withheld: counts.withheld + counts.locked,
      fileBytes: sizeOf(databaseOf(this.#dir)),
      waiting,
      ...(writtenAt !== undefined && { writtenAt }),
      ...(trouble !== undefined && { trouble }),
    };
  }

  /** Throws an XdsError if the store is closed. */
  checkOpen(): void {
    if (this.#closed)
      throw new XdsError(
        "FAILED_PRECONDITION",
        `the snapshot ${this.#dir} is closed, as the client or relay that used it is; open it again`,
      );
  }

  async flush(): Promise<void> {
    await this.#writer.flush();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#deadlines.look();
    this.#deadlines.stop();
    await this.#writer.close();
    this.#reader.close();
    this.#lock?.release();
  }

  /**
   * Stores the state of a name that upstream has sent. A state that is equal to the stored one is
   * not written again.
   */
  put(facts: RecordFacts, resource: StoredResource): SnapshotRecord {
    const isWithheld =
      resource.noStore === true || (this.#seal === undefined && this.#isSecret(facts.typeUrl));
    const state = isWithheld ? "withheld" : "stored";
    const body = isWithheld
      ? {}
      : {
          served: resource.version,
          checksum: crc32(resource.wire),
          size: resource.wire.length,
          aliases: resource.aliases ?? [],
        };
    const record = createRecord({
      ...facts,
      ...body,
      state,
      storedAt: this.clock.wallTime(),
      answered: true,
    });
    const before = this.index.find(record);
    if (before !== undefined && isSame(before, record)) return this.#again(before, record);
    if (!isWithheld) record.resource = resource;
    record.length = isWithheld ? 0 : resource.wire.length;
    record.row = before?.row ?? this.index.nextRow();
    if (before !== undefined) this.#deadlines.forget(before);
    this.index.set(record);
    this.#deadlines.note(record);
    this.#writer.add({ kind: "put", record });
    return record;
  }

  remove(record: SnapshotRecord): void {
    this.#deadlines.forget(record);
    if (!this.index.has(record)) return;
    this.index.delete(record);
    this.#delete(record.row);
  }

  /** Sets when a record expires. */
  refresh(record: SnapshotRecord, expiresAt: number | undefined): void {
    const isKnown = record.expiresAt === expiresAt;
    record.expiresAt = expiresAt;
    this.#deadlines.note(record);
    if (isKnown) return;
    this.#writer.add({ kind: "refresh", record });
  }

  /** Stores that a collection is complete. */
  settle(settled: Pick<StoredCollection, "space" | "typeUrl" | "interest" | "error">): void {
    const { space, typeUrl, interest } = settled;
    const row = this.collection(space, typeUrl, interest)?.row ?? this.index.nextRow();
    const collection = { ...settled, at: this.clock.wallTime(), row, length: 0 };
    this.index.setCollection(collection);
    this.#writer.add({ kind: "collect", collection });
  }

  collection(space: string, typeUrl: string, interest: Interest): StoredCollection | undefined {
    return this.index.typeIndex(space, typeUrl).collection(interest);
  }

  /** Reads the resources of records. Rows with a wrong checksum are reported and deleted. */
  read(records: readonly SnapshotRecord[]): readonly RestoredRecord[] {
    const read: RestoredRecord[] = [];
    const lost: SnapshotRecord[] = [];
    let trouble: unknown;
    for (const record of records) {
      try {
        const resource = this.#resourceOf(record);
        if (resource === undefined) lost.push(record);
        else read.push({ record, resource });
      } catch (error) {
        trouble = error;
      }
    }
    if (lost.length > 0) this.#lose(lost);
    if (trouble !== undefined) this.#reportUnreadable(records.length - read.length, trouble);
    return read;
  }

  #load(): ReturnType<typeof loadSnapshot> {
    const started = this.clock.now();
    try {
      const loaded = loadSnapshot({
        dir: this.#dir,
        index: this.index,
        keyId: this.#seal?.keyId,
        isSecret: (typeUrl) => this.#isSecret(typeUrl),
        now: this.clock.wallTime(),
        tell: this.#tell,
      });
      const { resources } = countOf(this.index);
      const ms = this.clock.now() - started;
      this.#tell({ kind: "snapshot-opened", dir: this.#dir, resources, ms });
      this.#tellLocked();
      return loaded;
    } catch (error) {
      this.#lock?.release();
      throw openError(
        error,
        `the snapshot ${databaseOf(this.#dir)} cannot be read: ${textOf(error)}; give this process the right to read it, or another directory`,
      );
    }
  }

  #tellLocked(): void {
    const { locked } = countOf(this.index);
    if (locked === 0) return;
    const why = this.#seal === undefined ? "secretKey is missing" : "the secretKey is another one";
    this.#tell({
      kind: "snapshot-locked",
      resources: locked,
      message: `${locked} secrets in ${this.#dir} cannot be read, since ${why}; they are pending until upstream answers; give the key that they were stored with`,
    });
  }

  /**
   * Returns the resource byte for byte as upstream sent it (B-RELAY-3), or `undefined` if the row
   * is damaged.
   */
  #resourceOf(record: SnapshotRecord): Resource | undefined {
    const { typeUrl, version } = record;
    const wire = record.resource?.wire ?? this.#wireOf(record);
    if (wire === undefined) return undefined;
    const bytes = Buffer.from(wire.buffer, wire.byteOffset, wire.length);
    const { payload, fault, ...resource }: ReceivedResource = readResource(
      bytes,
      0,
      bytes.length,
      typeUrl,
    );
    return payload === undefined || fault !== undefined
      ? undefined
      : { ...resource, payload, version };
  }

  #wireOf(record: SnapshotRecord): Uint8Array | undefined {
    const row = this.#rowOf(record);
    const body = row?.body ?? undefined;
    if (row === undefined || body === undefined) return undefined;
    if (row.kind === "sealed") return this.#seal?.open(body, sealedFor(record));
    return body.length === record.size && crc32(body) === record.checksum ? body : undefined;
  }

  /** Returns `undefined` if the row is damaged. Throws if the file cannot be read now. */
  #rowOf(record: SnapshotRecord): Row | undefined {
    let row: Row | undefined;
    try {
      row = this.#reader.row(record.row);
    } catch (error) {
      if (isDamage(error)) return undefined;
      throw error;
    }
    const read = row && readRow(row);
    return read === undefined ||
      read.kind === "collection" ||
      read.record.name !== record.name ||
      read.record.typeUrl !== record.typeUrl
      ? undefined
      : row;
  }

  /**
   * Returns true for the types of secrets and of lists of them: a list collection may have its
   * members inline.
   */
  #isSecret(typeUrl: string): boolean {
    return this.#secretTypes.has(typeUrl) || this.#secretTypes.has(memberTypeOf(typeUrl) ?? "");
  }

  #again(before: SnapshotRecord, { storedAt, expiresAt }: SnapshotRecord): SnapshotRecord {
    Object.assign(before, { answered: true, restored: false, storedAt });
    this.refresh(before, expiresAt);
    return before;
  }

  #encode(op: Op): RowChange | undefined {
    switch (op.kind) {
      case "put":
        return this.#encodePut(op.record);
      case "collect":
        return { change: "put", row: { ...rowOfCollection(op.collection), body: null } };
      case "refresh": {
        const record = this.index.find(op.record) ?? op.record;
        return { change: "facts", row: rowOfRecord(record, this.#keyIdOf(record)) };
      }
      case "copy":
        return this.#encodeCopy(op.record);
      case "delete":
        return { change: "delete", id: op.row };
    }
  }

  #encodePut(record: SnapshotRecord): RowChange {
    const wire = record.resource?.wire;
    const row = rowOfRecord(record, this.#keyIdOf(record));
    if (wire === undefined) return { change: "put", row: { ...row, body: null } };
    const body = row.kind === "sealed" ? this.#seal?.seal(wire, sealedFor(record)) : wire;
    return { change: "put", row: { ...row, body: body ?? null } };
  }

  #encodeCopy(record: SnapshotRecord): RowChange | undefined {
    let row: Row | undefined;
    try {
      row = this.#rowOf(record);
    } catch {
      // The row was on a disk that is no longer there.
    }
    return row && { change: "put", row: withExpiry(row, record.expiresAt) };
  }

  /**
   * Returns the id of the key that records of this type are encrypted with. `undefined`: they are
   * stored unencrypted.
   */
  #keyIdOf({ typeUrl }: SnapshotRecord): string | undefined {
    return this.#isSecret(typeUrl) ? this.#seal?.keyId : undefined;
  }

  #delete(row: number): void {
    this.#writer.add({ kind: "delete", row });
  }

  #tear(record: SnapshotRecord): void {
    for (const { row } of this.index.tear(record)) this.#delete(row);
  }

  #lose(lost: readonly SnapshotRecord[]): void {
    for (const record of lost) {
      this.#tear(record);
      this.remove(record);
    }
    const [{ name } = { name: "" }] = lost;
    const file = databaseOf(this.#dir);
    this.#tell({
      kind: "snapshot-lost",
      file,
      resources: lost.length,
      message: `${lost.length} resources in ${file} are not what was written, the first is ${JSON.stringify(name)}; they are pending until upstream answers; check the disk`,
    });
  }

  /** The rows stay, since they may be readable later. */
  #reportUnreadable(resources: number, error: unknown): void {
    const file = databaseOf(this.#dir);
    this.#tell({
      kind: "snapshot-lost",
      file,
      resources,
      message: `${resources} resources in ${file} cannot be read now: ${textOf(error)}; they are pending until upstream answers; let this process read the file, or check the disk`,
    });
  }

  /**
   * If the rows have more than `maxBytes`, deletes those that are not subscribed, the oldest first,
   * until 90 % of `maxBytes` are left.
   */
  #evict(): void {
    const now = this.clock.now();
    if (this.index.bytes <= this.#maxBytes || now < this.#evictAt) return;
    this.#evictAt = now + EVICT_MS;
    const unwanted = [...this.index, ...this.index.collections()]
      .filter((one) => ![...this.subscribers].some((subscribers) => subscribers(one)))
      .sort((a, b) => ageOf(a) - ageOf(b));
    const before = this.index.bytes;
    let resources = 0;
    for (const one of unwanted) {
      if (this.index.bytes <= 0.9 * this.#maxBytes) break;
      if ("interest" in one) {
        if (this.index.deleteCollection(one)) this.#delete(one.row);
        continue;
      }
      resources++;
      this.#tear(one);
      this.remove(one);
    }
    if (this.index.bytes < before)
      this.#tell({ kind: "snapshot-evicted", resources, bytes: before - this.index.bytes });
  }
}

/** Returns when upstream sent it, in milliseconds since the epoch. */
function ageOf(one: SnapshotRecord | StoredCollection): number {
  return "interest" in one ? one.at : one.storedAt;
}

/** Returns true if two states are equal except for their times. */
function isSame(one: SnapshotRecord, other: SnapshotRecord): boolean {
  return (
    one.state === other.state &&
    one.name === other.name &&
    one.version === other.version &&
    one.served === other.served &&
    one.checksum === other.checksum &&
    one.size === other.size
  );
}

/**
 * Locks the directory. Returns `undefined` if `lock.db` cannot be written. The snapshot is used all
 * the same, and the first write reports the reason.
 */
function lockOf(dir: string, clock: Clock): SnapshotLock | undefined {
  try {
    makePrivateDirectory(dir);
    return acquireLock(dir, clock.wallTime());
  } catch (error) {
    if (error instanceof SnapshotInUse)
      throw new XdsError(
        "FAILED_PRECONDITION",
        `${error.message}; give each process a directory of its own, or end that process`,
        { cause: error },
      );
    if (error instanceof SnapshotError) throw openError(error, error.message);
    return undefined;
  }
}

/** @param text - The message for an error whose own message is not complete */
function openError(error: unknown, text: string): XdsError {
  if (error instanceof XdsError) return error;
  const message = error instanceof SnapshotError ? error.message : text;
  return new XdsError("FAILED_PRECONDITION", message, { cause: error });
}

function countOf(index: SnapshotIndex): { readonly resources: number; readonly locked: number } {
  let [resources, locked] = [0, 0];
  for (const { state } of index) {
    if (state === "stored") resources++;
    if (state === "locked") locked++;
  }
  return { resources, locked };
}
