import { join } from "node:path";
import { crc32 } from "node:zlib";

import { systemClock, XdsError, type Clock, type Interest, type StoredResource } from "@xdstp/core";
import { memberTypeOf } from "@xdstp/uri";

import { createDirectoryLock, type DirectoryLock } from "./directory-lock.ts";
import { FrameKind, type FrameMeta } from "./frame.ts";
import { Journal, systemDisk, type Change, type Disk } from "./journal.ts";
import { collectionMeta, loadSnapshot } from "./load-snapshot.ts";
import {
  createRecord,
  metaOf,
  nameMeta,
  recordId,
  sealedFor,
  type RecordFacts,
  type SnapshotRecord,
} from "./record.ts";
import { makePrivateDirectory } from "./private-files.ts";
import { readRecords, type RestoredRecord } from "./read-records.ts";
import { createSeal, type Seal } from "./seal.ts";
import { collectionId, type StoredCollection } from "./shelf.ts";
import type { Snapshot, SnapshotOptions, SnapshotStatus } from "./snapshot.ts";
import type { SnapshotEvent } from "./snapshot-event.ts";
import { SnapshotIndex } from "./snapshot-index.ts";
import { SnapshotWriter, type Op } from "./snapshot-writer.ts";

/** What Envoy keeps keys and certificates in. */
const SECRETS: readonly string[] = [
  "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret",
];

/** What is asked for comes again within this time after a restart; nothing is evicted before. */
const GRACE_MS = 600_000;

/** How long after a look at what nobody asks for there is another one. */
const EVICT_MS = 60_000;

/** Who knows what is asked for. */
export type Wants = (one: SnapshotRecord | StoredCollection) => boolean;

/** An interest that is served from a snapshot. */
export interface Served {
  /** null: of an opaque name. */
  readonly authority: string | null;
  /** Of what time that is, in milliseconds since the epoch. Absent: it is not, or not any more. */
  readonly restoredAt: number | undefined;
}

/** The snapshot behind `openSnapshot`: an index in memory of what lies in one file. */
export class SnapshotStore implements Snapshot {
  readonly index: SnapshotIndex = new SnapshotIndex();
  readonly clock: Clock;
  /** Those that ask for something: what none of them wants may go. */
  readonly wants: Set<Wants> = new Set<Wants>();
  /** Those that serve from it: each tells of what it does now. */
  readonly servings: Set<() => Iterable<Served>> = new Set<() => Iterable<Served>>();
  readonly #dir: string;
  readonly #maxBytes: number;
  readonly #seal: Seal | undefined;
  readonly #secretTypes: ReadonlySet<string>;
  #evictAt: number;
  readonly #tell: (event: SnapshotEvent) => void;
  readonly #writer: SnapshotWriter;
  readonly #lock: DirectoryLock;
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
    disk: Disk = systemDisk,
  ) {
    this.clock = clock;
    this.#dir = dir;
    this.#maxBytes = maxBytes;
    this.#seal = secretKey && createSeal(secretKey);
    this.#secretTypes = new Set(secretTypes);
    this.#evictAt = clock.now() + GRACE_MS;
    this.#tell = (event) => onEvent?.(event);
    makePrivateDirectory(dir);
    this.#lock = createDirectoryLock(dir);
    this.#claim();
    const path = join(dir, "snapshot.journal");
    this.#writer = new SnapshotWriter({
      journal: this.#loadLocked(path, disk),
      index: this.index,
      clock,
      encode: (op) => this.#encode(op),
      tell: this.#tell,
      claim: () => {
        this.#lock.claim();
      },
      evict: () => {
        this.#evict();
      },
      lose: (lost) => {
        this.#lose(lost);
      },
    });
  }

  status(): SnapshotStatus {
    const { fileBytes, waiting, writtenAt, trouble } = this.#writer;
    const counts = { stored: 0, withheld: 0, locked: 0 };
    for (const { state } of this.index) counts[state]++;
    return {
      dir: this.#dir,
      resources: counts.stored,
      withheld: counts.withheld + counts.locked,
      fileBytes,
      waiting,
      ...(writtenAt !== undefined && { writtenAt }),
      ...(trouble !== undefined && { trouble }),
    };
  }

  async flush(): Promise<void> {
    await this.#writer.flush();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#writer.close();
    this.#lock.release();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Notes what upstream has said of a name. What is equal is not written again. */
  put(facts: RecordFacts, resource: StoredResource): SnapshotRecord {
    const isWithheld =
      resource.noStore === true || (this.#seal === undefined && this.#isSecret(facts.typeUrl));
    const state = isWithheld ? "withheld" : "stored";
    const body = isWithheld
      ? {}
      : {
          served: resource.version,
          sum: crc32(resource.wire),
          size: resource.wire.length,
          aliases: resource.aliases ?? [],
        };
    const record = createRecord({
      ...facts,
      ...body,
      state,
      storedAt: this.clock.wallTime(),
      said: true,
    });
    const before = this.index.find(record);
    if (before !== undefined && isSame(before, record)) return this.#again(before, record);
    if (!isWithheld) record.resource = resource;
    record.length = isWithheld ? 0 : resource.wire.length;
    this.index.set(record);
    this.#writer.add({ kind: isWithheld ? "withhold" : "put", id: idOf(record), record });
    return record;
  }

  remove(record: SnapshotRecord): void {
    if (!this.index.has(record)) return;
    this.index.delete(record);
    this.#writer.add({ kind: "remove", id: idOf(record), record });
  }

  /** Its time begins again. */
  refresh(record: SnapshotRecord, expiresAt: number | undefined): void {
    if (record.expiresAt === expiresAt) return;
    record.expiresAt = expiresAt;
    this.#writer.add({ kind: "refresh", id: `${idOf(record)}\n\nexpiry`, record });
  }

  /** All of a collection is known. */
  settle(collection: Pick<StoredCollection, "space" | "typeUrl" | "interest" | "error">): void {
    const known = { ...collection, at: this.clock.wallTime(), length: 0 };
    this.index.setCollection(known);
    this.#collect(known, true);
  }

  collection(space: string, typeUrl: string, interest: Interest): StoredCollection | undefined {
    return this.index.shelf(space, typeUrl).collection(interest);
  }

  /** Those that can be read; those that cannot are told of and gone. */
  read(records: readonly SnapshotRecord[]): readonly RestoredRecord[] {
    const { read, lost } = readRecords(this.#writer.reader, records, this.#seal);
    if (lost.length > 0) this.#lose(lost);
    return read;
  }

  #loadLocked(path: string, disk: Disk): Journal {
    try {
      return this.#load(path, disk);
    } catch (error) {
      this.#lock.release();
      throw error instanceof XdsError
        ? error
        : new XdsError(
            "FAILED_PRECONDITION",
            `the snapshot ${path} cannot be read: ${error instanceof Error ? error.message : String(error)}; give this process the right to read it, or another directory`,
            { cause: error },
          );
    }
  }

  #load(path: string, disk: Disk): Journal {
    const started = this.clock.now();
    const loaded = loadSnapshot({
      path,
      index: this.index,
      keyId: this.#seal?.keyId,
      isSecret: (typeUrl) => this.#isSecret(typeUrl),
      now: this.clock.wallTime(),
      tell: this.#tell,
    });
    const { resources } = countOf(this.index);
    this.#tell({
      kind: "snapshot-opened",
      dir: this.#dir,
      resources,
      ms: this.clock.now() - started,
    });
    this.#tellLocked();
    return new Journal(path, disk, loaded);
  }

  #tellLocked(): void {
    const { locked } = countOf(this.index);
    if (locked === 0) return;
    const why = this.#seal === undefined ? "there is no secretKey" : "the secretKey is another one";
    this.#tell({
      kind: "snapshot-locked",
      resources: locked,
      message: `${locked} secrets in ${this.#dir} cannot be read, since ${why}; they are pending until upstream answers; give the key that they were stored with`,
    });
  }

  /** A directory that cannot be written to is used as it is: the writer tells of it. */
  #claim(): void {
    try {
      this.#lock.claim();
    } catch (error) {
      if (error instanceof XdsError) throw error;
    }
  }

  /** A list may have its members inline. */
  #isSecret(typeUrl: string): boolean {
    return this.#secretTypes.has(typeUrl) || this.#secretTypes.has(memberTypeOf(typeUrl) ?? "");
  }

  #again(before: SnapshotRecord, { storedAt, expiresAt }: SnapshotRecord): SnapshotRecord {
    Object.assign(before, { said: true, restored: false, storedAt });
    this.refresh(before, expiresAt);
    return before;
  }

  #encode({ kind, record, collection }: Op): Change {
    if (collection !== undefined)
      return { kind: FrameKind.COLLECTION, meta: collectionMeta(collection, kind === "collect") };
    switch (kind) {
      case "put":
        return this.#encodePut(record);
      case "withhold":
        return { kind: FrameKind.WITHHOLD, meta: { ...expiryMeta(record), at: record.storedAt } };
      case "refresh":
        return { kind: FrameKind.REFRESH, meta: expiryMeta(this.index.find(record) ?? record) };
      default:
        return { kind: FrameKind.REMOVE, meta: nameMeta(record) };
    }
  }

  #encodePut(record: SnapshotRecord): Change {
    const data = record.resource?.wire;
    if (data === undefined || this.#seal === undefined || !this.#isSecret(record.typeUrl))
      return { kind: FrameKind.PUT, meta: metaOf(record), data };
    // Nothing that is derived from a secret stands next to it.
    return {
      kind: FrameKind.SEALED,
      meta: {
        ...metaOf({ ...record, served: record.version, sum: 0, size: 0 }),
        k: this.#seal.keyId,
      },
      data: this.#seal.seal(data, sealedFor(record)),
    };
  }

  #collect(collection: StoredCollection, complete: boolean): void {
    const { space, typeUrl, interest } = collection;
    this.#writer.add({
      kind: complete ? "collect" : "tear",
      id: `${space}\n${typeUrl}\n\n${collectionId(interest)}`,
      collection,
    });
  }

  #tear(record: SnapshotRecord): void {
    for (const collection of this.index.tear(record)) this.#collect(collection, false);
  }

  #lose(lost: readonly SnapshotRecord[]): void {
    for (const record of lost) {
      this.#tear(record);
      this.remove(record);
    }
    const [{ at, length, name } = { at: 0, length: 0, name: "" }] = lost;
    const file = this.#writer.path;
    this.#tell({
      kind: "snapshot-corrupt",
      file,
      aside: "",
      offset: at,
      bytes: length,
      message: `${file} is corrupt at byte ${at}: ${lost.length} resources cannot be read, the first is ${JSON.stringify(name)}; they are pending until upstream answers; check the disk`,
    });
  }

  /** What nobody asks for, the oldest first, until there is a tenth less than may be. */
  #evict(): void {
    const now = this.clock.now();
    if (this.index.bytes <= this.#maxBytes || now < this.#evictAt) return;
    this.#evictAt = now + EVICT_MS;
    const unwanted = [...this.index, ...this.index.collections()]
      .filter((one) => ![...this.wants].some((wants) => wants(one)))
      .sort((a, b) => ageOf(a) - ageOf(b));
    const before = this.index.bytes;
    let resources = 0;
    for (const one of unwanted) {
      if (this.index.bytes <= 0.9 * this.#maxBytes) break;
      if ("interest" in one) {
        if (this.index.deleteCollection(one)) this.#collect(one, false);
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

/** When it was said. */
function ageOf(one: SnapshotRecord | StoredCollection): number {
  return "interest" in one ? one.at : one.storedAt;
}

/** Equal in all but time. */
function isSame(one: SnapshotRecord, other: SnapshotRecord): boolean {
  return (
    one.state === other.state &&
    one.name === other.name &&
    one.version === other.version &&
    one.served === other.served &&
    one.sum === other.sum &&
    one.size === other.size
  );
}

function expiryMeta(record: SnapshotRecord): FrameMeta {
  return { ...nameMeta(record), ...(record.expiresAt !== undefined && { ex: record.expiresAt }) };
}

function idOf(record: SnapshotRecord): string {
  return `${record.space}\n${record.typeUrl}\n${recordId(record)}`;
}

function countOf(index: SnapshotIndex): { readonly resources: number; readonly locked: number } {
  let [resources, locked] = [0, 0];
  for (const { state } of index) {
    if (state === "stored") resources++;
    if (state === "locked") locked++;
  }
  return { resources, locked };
}
