import { constants } from "node:fs";
import { open, readdir, readlink, realpath, stat } from "node:fs/promises";

/**
 * The operations of a file system with which single files are found, read and compared. They reject
 * with the errors of `node:fs/promises`, of which `code` counts: `ENOENT` and `ENOTDIR` say that a
 * file does not exist.
 */
export interface FileSystem {
  /** Returns the state of the file that a path leads to, over all links. */
  stat(path: string): Promise<FileStats>;
  /** Returns the target of a symbolic link, as it is written. Rejects if the path is not a link. */
  readlink(path: string): Promise<string>;
  /** Returns the path without links. */
  realpath(path: string): Promise<string>;
  /** Returns the entries of a directory. */
  readdir(path: string): Promise<readonly { readonly name: string; isDirectory(): boolean }[]>;
  /** Opens a file for reading. It stays the same file, also if another one is moved to its path. */
  open(path: string): Promise<OpenFile>;
}

/** The state of a file. Two files, or one before and after a change, differ in some of the numbers. */
export interface FileStats {
  /** The file system. */
  readonly dev: bigint;
  /** The number of the file in it. */
  readonly ino: bigint;
  /** Bytes. */
  readonly size: bigint;
  /** The time of the last change of the content, in nanoseconds. */
  readonly mtimeNs: bigint;
  /** The time of the last change of the file, in nanoseconds. */
  readonly ctimeNs: bigint;
  /** The time at which the file was created, in nanoseconds. */
  readonly birthtimeNs: bigint;
  /** Returns true for a regular file. */
  isFile(): boolean;
}

/** A file that is being read. */
export interface OpenFile {
  /** Reads the next bytes into the buffer. Returns their number; 0: the file ends here. */
  read(buffer: Uint8Array): Promise<number>;
  /** Ends the reading. */
  close(): Promise<void>;
}

/** The file system of the machine. */
export const machineFiles: FileSystem = {
  stat: (path) => stat(path, { bigint: true }),
  readlink: (path) => readlink(path),
  realpath: (path) => realpath(path),
  readdir: (path) => readdir(path, { withFileTypes: true }),
  async open(path) {
    // Reading a file such as /proc/kmsg, which is reported as a regular file, would wait for more data. With O_NONBLOCK it is an error.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return {
      read: async (buffer) => (await handle.read(buffer, 0, buffer.length)).bytesRead,
      close: () => handle.close(),
    };
  },
};
