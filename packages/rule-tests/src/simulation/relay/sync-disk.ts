import {
  closeSync,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  writeSync,
  type PathLike,
} from "node:fs";
import type { FileHandle } from "node:fs/promises";

import type { Disk } from "../../../../relay/src/snapshot/journal.ts";

/** A disk that is done at once, so that a world does the same each time. What is written is there after a crash. */
export const syncDisk: Disk = {
  open: ((path: PathLike, flags?: string | number, mode?: number) =>
    done(() => handleOf(openSync(path, flags ?? "r", mode)))) as Disk["open"],
  rename: (from, to) =>
    done(() => {
      renameSync(from, to);
    }),
};

function handleOf(file: number): FileHandle {
  const handle = {
    write: (bytes: Uint8Array, from: number, length: number, at: number) =>
      done(() => ({ bytesWritten: writeSync(file, bytes, from, length, at), buffer: bytes })),
    read: (bytes: Uint8Array, from: number, length: number, at: number) =>
      done(() => ({ bytesRead: readSync(file, bytes, from, length, at), buffer: bytes })),
    stat: () => done(() => fstatSync(file)),
    chmod: (mode: number) =>
      done(() => {
        fchmodSync(file, mode);
      }),
    truncate: (length: number) =>
      done(() => {
        ftruncateSync(file, length);
      }),
    datasync: () => done(() => undefined),
    sync: () => done(() => undefined),
    close: () =>
      done(() => {
        closeSync(file);
      }),
  };
  return handle as unknown as FileHandle;
}

/** What throws rejects. */
async function done<T>(act: () => T): Promise<T> {
  return Promise.resolve(act());
}
