import { type Clock, createBackoff, type StoredResource, type Timer } from "@xdstp/core";

import { SnapshotMoved } from "./database-writer.ts";
import { isSameFile, textOf, type FileIdentity } from "./private-files.ts";
import type { RowChange, SnapshotRecord } from "./record.ts";
import type { StoredCollection } from "./type-index.ts";
import type { SnapshotDisk } from "./snapshot-disk.ts";
import type { SnapshotEvent } from "./snapshot.ts";
import type { SnapshotIndex } from "./snapshot-index.ts";

/**
 * A change that waits to be written: the newest change of its row. `copy`: the stored row is copied
 * to another file.
 */
export type Op =
  | { readonly kind: "put" | "refresh" | "copy"; readonly record: SnapshotRecord }
  | { readonly kind: "collect"; readonly collection: StoredCollection }
  | { readonly kind: "delete"; readonly row: number };

/** The parts of a store that its writer uses. */
export interface WriterHost {
  readonly dir: string;
  readonly path: string;
  readonly disk: SnapshotDisk;
  readonly index: SnapshotIndex;
  readonly clock: Clock;
  /** Returns `undefined` if the row that should be copied cannot be read, so the record is lost. */
  readonly encode: (op: Op) => RowChange | undefined;
  readonly tell: (event: SnapshotEvent) => void;
  /** Called before each write. */
  readonly evict: () => void;
  /** Called with the records that could not be copied. */
  readonly lose: (lost: readonly SnapshotRecord[]) => void;
  /** Called when rows have to be read from another file. */
  readonly turn: () => void;
  /** Called when rows are no longer read, so the reader can close its file. */
  readonly letGo: () => void;
}

/**
 * Milliseconds in which changes are collected before they are written together. Together with the
 * write itself it is less than one second, the time whose changes may be lost.
 */
const GATHER_MS = 200;

/** The maximum number of changes, and of bytes, that are encoded in one turn of the event loop. */
const CHUNK = { changes: 500, bytes: 1 << 20 };

/**
 * Writes all waiting changes in one transaction. If they cannot be written, they keep waiting, one
 * change for each row.
 */
export class SnapshotWriter {
  writtenAt: number | undefined;
  trouble: string | undefined;
  #reported: string | undefined;
  readonly #host: WriterHost;
  readonly #backoff: ReturnType<typeof createBackoff> = createBackoff(
    { initialMs: 1_000, maxMs: 60_000 },
    Math.random,
  );
  #waiting = new Map<number, Op>();
  /** The file with the rows. `undefined`: a new one has to be created. */
  #file: FileIdentity | undefined;
  #timer: Timer | undefined;
  #due = Infinity;
  /** True if the last write failed. Then changes wait for the next attempt. */
  #isStuck = false;
  /** True if the write-ahead log may still have deleted data. */
  #emptiesLog = false;
  #work: Promise<void> = Promise.resolve();
  #isClosed = false;

  /** @param file - The file that was read. `undefined`: there is none, and none could be created */
  constructor(host: WriterHost, file: FileIdentity | undefined) {
    this.#host = host;
    this.#file = file;
    // The first write reports the reason.
    if (file === undefined) this.#schedule(0);
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  add(op: Op): void {
    const row = rowOf(op);
    const before = this.#waiting.get(row);
    // A put is encoded when it is written, with the expiry of that time.
    if (op.kind === "refresh" && before !== undefined) return;
    // Deletes the key first, so that the change moves to the end of the map.
    this.#waiting.delete(row);
    this.#waiting.set(row, op);
    if (!this.#isStuck) this.#schedule(GATHER_MS);
  }

  /** Empties the write-ahead log with the next commit, so that no deleted data are left on disk. */
  purge(): void {
    this.#emptiesLog = true;
    this.#schedule(0);
  }

  /** Writes now. A failure is reported as an event; the promise does not reject. */
  async flush(): Promise<void> {
    this.#cancel();
    this.#work = this.#work.then(() => this.#write());
    await this.#work;
  }

  async close(): Promise<void> {
    await this.flush();
    this.#isClosed = true;
    this.#cancel();
    // The last connection empties the log and removes it. A read-only connection cannot do that.
    this.#host.letGo();
    await this.#host.disk.close();
  }

  /** Schedules a write, unless an earlier one is scheduled. */
  #schedule(ms: number): void {
    const { clock } = this.#host;
    const due = clock.now() + ms;
    if (this.#isClosed || due >= this.#due) return;
    this.#cancel();
    this.#due = due;
    this.#timer = clock.after(ms, () => {
      void this.flush();
    });
  }

  #cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#due = Infinity;
  }

  async #write(): Promise<void> {
    try {
      this.#host.evict();
      await this.#append();
    } catch (error) {
      this.#isStuck = true;
      this.#cancel();
      const retryMs = this.#fail(error);
      if (!(error instanceof SnapshotMoved)) {
        this.#schedule(retryMs);
        return;
      }
      this.#rewrite();
      await this.#write();
      return;
    }
    if (this.#isStuck) this.#recover();
    this.#isStuck = false;
    // Changes that were added while nothing could be written have not scheduled a write.
    if (this.#waiting.size > 0) this.#schedule(GATHER_MS);
  }

  /**
   * Marks all records to be written to a new file. Bodies that are only on disk are read from the
   * old file, which is still open.
   */
  #rewrite(): void {
    const { index } = this.#host;
    this.#file = undefined;
    const newer = this.#waiting;
    this.#waiting = new Map();
    for (const record of index)
      this.#waiting.set(record.row, {
        kind: record.resource === undefined && record.state !== "withheld" ? "copy" : "put",
        record,
      });
    for (const collection of index.collections())
      this.#waiting.set(collection.row, { kind: "collect", collection });
    this.#merge(newer);
  }

  async #append(): Promise<void> {
    if (this.#waiting.size === 0 && this.#file !== undefined && !this.#emptiesLog) return;
    const { clock, lose } = this.#host;
    const ops = [...this.#waiting.values()];
    this.#waiting = new Map();
    try {
      const lost = await this.#transaction(ops);
      this.#emptiesLog = false;
      this.writtenAt = clock.wallTime();
      if (lost.length > 0) lose(lost);
    } catch (error) {
      const newer = this.#waiting;
      this.#waiting = new Map(ops.map((op) => [rowOf(op), op]));
      this.#merge(newer);
      throw error;
    }
  }

  /** Adds newer changes to those that failed. */
  #merge(newer: ReadonlyMap<number, Op>): void {
    for (const [row, op] of newer)
      if (op.kind !== "refresh" || !this.#waiting.has(row)) {
        this.#waiting.delete(row);
        this.#waiting.set(row, op);
      }
  }

  /** Returns the records that could not be copied. */
  async #transaction(ops: readonly Op[]): Promise<readonly SnapshotRecord[]> {
    const { clock, disk, tell, turn, path } = this.#host;
    const done: (() => void)[] = [];
    const lost: SnapshotRecord[] = [];
    let file = this.#file;
    for (let from = 0; from === 0 || from < ops.length;) {
      const { changes, to } = this.#chunk(ops, from, done, lost);
      const isLast = to === ops.length;
      const written = await disk.write({
        begin: from === 0 ? { file: this.#file, now: clock.wallTime() } : undefined,
        changes,
        isLast,
        emptiesLog: isLast && this.#emptiesLog,
      });
      file = written.file;
      if (written.aside !== undefined)
        tell({
          kind: "snapshot-set-aside",
          file: path,
          aside: written.aside,
          message: `${path} is another file than the relay has read; it is kept as ${written.aside}, and a new one is written; remove it when you do not need it`,
        });
      if (isLast) break;
      from = to;
    }
    if (this.writtenAt === undefined || !isSameFile(file, this.#file)) turn();
    this.#file = file;
    for (const place of done) place();
    return lost;
  }

  /** Encodes the changes of the next chunk, from index `from` up to `to`. */
  #chunk(
    ops: readonly Op[],
    from: number,
    done: (() => void)[],
    lost: SnapshotRecord[],
  ): { readonly changes: readonly RowChange[]; readonly to: number } {
    const { encode, index } = this.#host;
    const changes: RowChange[] = [];
    let [to, bytes] = [from, 0];
    while (to < ops.length && changes.length < CHUNK.changes && bytes < CHUNK.bytes) {
      const op = ops[to++];
      if (op === undefined) break;
      const change = encode(op);
      if (change === undefined) {
        if (op.kind === "copy") lost.push(op.record);
        continue;
      }
      changes.push(change);
      if (change.change !== "put") continue;
      const length = change.row.facts.length + (change.row.body?.length ?? 0);
      bytes += length;
      const carried: StoredResource | undefined =
        op.kind === "put" ? op.record.resource : undefined;
      done.push(() => {
        if (op.kind === "collect") index.resize(op.collection, length);
        if (op.kind !== "put") return;
        index.resize(op.record, length);
        if (op.record.resource === carried) op.record.resource = undefined;
      });
    }
    return { changes, to };
  }

  /** Reports a failure. Returns the milliseconds until the next attempt. */
  #fail(error: unknown): number {
    const { path, tell } = this.#host;
    const retryMs = this.#backoff.next();
    this.trouble = textOf(error);
    const message = `${path} cannot be written: ${this.trouble}; the relay goes on, and what upstream sends from now on would be lost by a restart; make room for it, or let this process write there`;
    if (this.#reported !== message) tell({ kind: "snapshot-trouble", retryMs, message });
    this.#reported = message;
    return retryMs;
  }

  #recover(): void {
    this.trouble = undefined;
    this.#reported = undefined;
    this.#backoff.reset();
    this.#host.tell({ kind: "snapshot-well", dir: this.#host.dir });
  }
}

function rowOf(op: Op): number {
  return op.kind === "delete" ? op.row : op.kind === "collect" ? op.collection.row : op.record.row;
}
