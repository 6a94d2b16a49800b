import { mkdir, open, rename, rm } from "node:fs/promises";
import { type FileSystem, machineFiles } from "@xdstp/folder/files";

/** The operations of a file system with which files are replaced. */
export interface WritableFiles extends FileSystem {
  /** Creates a directory and those above it, unless they exist. */
  mkdir(path: string): Promise<void>;
  /**
   * Writes a file in its place, and syncs it.
   * @param mode - The permissions of a new file, before the umask
   */
  write(path: string, content: string | Uint8Array, mode: number): Promise<void>;
  /** Moves a file to another path, in one step. A file there is replaced. */
  rename(from: string, to: string): Promise<void>;
  /** Removes a file, if it exists. */
  rm(path: string): Promise<void>;
  /** Makes the entries of a directory survive a crash of the machine. Does nothing where a system cannot sync a directory. */
  syncDirectory(path: string): Promise<void>;
}

/** The file system of the machine. */
export const writableMachineFiles: WritableFiles = {
  ...machineFiles,
  async mkdir(path) {
    await mkdir(path, { recursive: true });
  },
  async write(path, content, mode) {
    const file = await open(path, "w", mode);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
  },
  rename: (from, to) => rename(from, to),
  rm: (path) => rm(path, { force: true }),
  async syncDirectory(path) {
    const handle = await open(path, "r").catch(() => undefined);
    await handle?.sync().catch(() => undefined);
    await handle?.close();
  },
};
