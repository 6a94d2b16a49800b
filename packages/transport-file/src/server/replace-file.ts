import { basename, dirname, join } from "node:path";

import { type WritableFiles, writableMachineFiles } from "./writable-files.ts";

/** The users that can read a file: all that the umask allows, or its owner only. */
export type FileMode = "shared" | "private";

/**
 * Writes a file as a whole (B-FILE-6): into a hidden file in the same directory, which is synced and then renamed to `path`. A reader sees the old content or the new one, and never a part. The directory is created if it does not exist.
 * Rejects with the error of the file system; the file at `path` is then unchanged, and the hidden file is removed.
 *
 * @param files - Default: the file system of the machine
 */
export async function replaceFile(
  path: string,
  content: string | Uint8Array,
  mode: FileMode = "shared",
  files: WritableFiles = writableMachineFiles,
): Promise<void> {
  const directory = dirname(path);
  await files.mkdir(directory);
  const temporary = join(directory, `.${basename(path)}.${String(process.pid)}.tmp`);
  try {
    await files.write(temporary, content, mode === "private" ? 0o600 : 0o666);
    await files.rename(temporary, path);
  } catch (error) {
    await files.rm(temporary);
    throw error;
  }
  await files.syncDirectory(directory);
}
