import { closeSync, constants } from "node:fs";
import { open, rename, rm, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";

import { encodeFrame, FrameKind, type FrameMeta } from "./frame.ts";
import {
  checkPrivateFile,
  isOpenToOthers,
  linkError,
  openPrivateFile,
  PRIVATE_FLAGS,
} from "./private-files.ts";

/** The format of the file. Another one is set aside. */
export const FORMAT = 1;

/** What the journal asks of the system; tests let it fail. */
export interface Disk {
  readonly open: typeof open;
  readonly rename: typeof rename;
}

/** The disk of the machine. */
export const systemDisk: Disk = { open, rename };

/** One change to be written. */
export interface Change {
  readonly kind: number;
  readonly meta: FrameMeta;
  readonly data?: Uint8Array | undefined;
}

/** Where a change was written. */
export interface Place {
  readonly at: number;
  readonly length: number;
}

/** So much is handed to the disk at once. */
const CHUNK = 1 << 20;

/** A file that grows by whole batches. One call at a time. */
export class Journal {
  /** Where the last whole batch ends; what stands behind it is nothing. */
  end: number;
  batch: number;
  /** There are bytes in it that are not what was written. */
  damaged: boolean;
  readonly path: string;
  readonly #disk: Disk;
  #file: FileHandle | undefined;
  #reader: number | undefined;

  constructor(
    path: string,
    disk: Disk,
    { end, batch, damaged }: Pick<Journal, "end" | "batch" | "damaged">,
  ) {
    this.path = path;
    this.#disk = disk;
    this.end = end;
    this.batch = batch;
    this.damaged = damaged;
  }

  /** For reading: it stays the same file until `turn`, whatever takes its place. */
  get reader(): number {
    this.#reader ??= openPrivateFile(this.path);
    if (this.#reader === undefined) throw new Error(`${this.path} does not exist any more`);
    return this.#reader;
  }

  /** From now on the file is read that has taken its place. */
  turn(): void {
    if (this.#reader !== undefined) closeSync(this.#reader);
    this.#reader = undefined;
  }

  /** Adds changes, all or none: they are on disk when it resolves. Rejects with the error of the system, and may be called again. */
  async append(changes: Iterable<Change>, now: number): Promise<readonly Place[]> {
    try {
      const file = (this.#file ??= await this.#reopen());
      const batch = this.batch + 1;
      const { end, places } = await writeBatch(file, this.end, batch, changes, now);
      await file.datasync();
      Object.assign(this, { end, batch });
      return places;
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** Bytes of it, for who copies them. */
  async copyTo(target: FileHandle, start: number, at: number): Promise<void> {
    const file = (this.#file ??= await this.#reopen());
    const buffer = Buffer.allocUnsafe(CHUNK);
    for (let from = start; from < this.end;) {
      const { bytesRead } = await file.read(buffer, 0, Math.min(CHUNK, this.end - from), from);
      if (bytesRead === 0) throw new Error(`${this.path} is shorter than it was`);
      await writeAll(target, buffer.subarray(0, bytesRead), at + from - start);
      from += bytesRead;
    }
  }

  /** Another file takes its place: wholly, or not at all. */
  async replaceBy(path: string, file: FileHandle, end: number): Promise<void> {
    await file.datasync();
    await this.#disk.rename(path, this.path);
    await this.close();
    this.#file = file;
    this.end = end;
    this.damaged = false;
    await this.#syncDirectory();
  }

  async create(path: string): Promise<FileHandle> {
    await rm(path, { force: true });
    return this.#disk.open(path, "wx+", 0o600);
  }

  /** It may be used again. */
  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close().catch(() => undefined);
  }

  /** What was not wholly written goes first: it would stand behind what is written next. */
  async #reopen(): Promise<FileHandle> {
    const file = await this.#disk
      .open(this.path, constants.O_RDWR | constants.O_CREAT | PRIVATE_FLAGS, 0o600)
      .catch((error: unknown) => {
        throw (error as NodeJS.ErrnoException).code === "ELOOP" ? linkError(this.path) : error;
      });
    try {
      const stats = await file.stat();
      checkPrivateFile(this.path, stats);
      if (isOpenToOthers(stats)) await file.chmod(0o600);
      await file.truncate(this.end);
      if (this.end === 0) await this.#syncDirectory();
      return file;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Not every system can, and what was done stands all the same. */
  async #syncDirectory(): Promise<void> {
    const directory = await this.#disk.open(dirname(this.path), "r").catch(() => undefined);
    await directory?.sync().catch(() => undefined);
    await directory?.close().catch(() => undefined);
  }
}

/** Writes the frames of a batch and the commit that puts them in force. */
export async function writeBatch(
  file: FileHandle,
  start: number,
  batch: number,
  changes: Iterable<Change>,
  now: number,
): Promise<{ readonly end: number; readonly places: readonly Place[] }> {
  const places: Place[] = [];
  let waiting: Buffer[] = [];
  let size = 0;
  let written = start;
  const write = async (): Promise<void> => {
    await writeAll(file, Buffer.concat(waiting), written);
    written += size;
    [waiting, size] = [[], 0];
  };
  for (const { kind, meta, data } of changes) {
    const frame = encodeFrame(kind, batch, meta, data);
    places.push({ at: written + size, length: frame.length });
    waiting.push(frame);
    size += frame.length;
    if (size >= CHUNK) await write();
  }
  const commit = encodeFrame(FrameKind.COMMIT, batch, { format: FORMAT, at: now });
  waiting.push(commit);
  size += commit.length;
  await write();
  return { end: written, places };
}

async function writeAll(file: FileHandle, bytes: Buffer, at: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, at + done);
    done += bytesWritten;
  }
}
