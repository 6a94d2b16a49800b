import { closeSync, constants, openSync, readSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import type { Patience } from "./pacing.ts";

/** Reads small files of local disks without a thread. A thread for each step takes several times longer than the step. */
export interface LocalFiles {
  /** Returns the bytes of a regular file; undefined: its file system may be remote or is not known, or the file has grown. Rejects with the errors of the system. */
  readonly read: (
    path: string,
    stats: { readonly dev: number; readonly size: number },
  ) => Promise<Uint8Array | undefined>;
}

/** The file systems that answer at once, by the numbers that Linux gives them: ext2 to ext4, XFS, Btrfs, F2FS, ZFS, tmpfs and the overlays of containers. All others may wait for a network. */
const localTypes: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1, 0x01021994, 0x794c7630,
]);

/** Other work of the event loop runs after this time, in milliseconds. */
const mostBusyMs = 10;

/** The least size of a buffer: a file may have grown since its size was read. */
const leastBytes = 1024;

/** Creates a reader that knows no file system yet. `patience` limits the time that the type of one takes. */
export function createLocalFiles(patience: Patience): LocalFiles {
  const devices = new Map<number, Promise<boolean>>();
  let pause: Promise<void> | undefined;
  let rested = performance.now();

  const rest = async (): Promise<void> => {
    if (pause === undefined && performance.now() - rested < mostBusyMs) return;
    pause ??= setImmediate().then(() => {
      rested = performance.now();
      pause = undefined;
    });
    await pause;
  };
  return {
    async read(path, { dev, size }) {
      const known = devices.get(dev) ?? isLocal(path, patience);
      devices.set(dev, known);
      if (!(await known)) return undefined;
      await rest();
      return readNow(path, size);
    },
  };
}

async function isLocal(path: string, patience: Patience): Promise<boolean> {
  if (process.platform !== "linux") return false;
  try {
    const { type } = await patience(path, () => statfs(path));
    return localTypes.has(type);
  } catch {
    return false;
  }
}

/** A file that has become a FIFO since does not make this wait, because of `O_NONBLOCK`. */
function readNow(path: string, size: number): Uint8Array | undefined {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const bytes = Buffer.allocUnsafeSlow(Math.max(size + 1, leastBytes));
    let total = 0;
    while (total < bytes.length) {
      const read = readSync(descriptor, bytes, total, bytes.length - total, null);
      total += read;
      if (read === 0) return bytes.subarray(0, total);
    }
    return undefined; // It has grown.
  } finally {
    closeSync(descriptor);
  }
}
