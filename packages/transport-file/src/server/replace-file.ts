import { mkdir, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** The users that can read a file: all that the umask allows, or its owner only. */
export type FileMode = "shared" | "private";

/**
 * Writes a file as a whole (B-FILE-6): into a hidden file in the same directory, which is synced and then renamed to `path`. A reader sees the old content or the new one, and never a part. The directory is created if it does not exist.
 * Rejects with the error of the file system; the file at `path` is then unchanged, and the hidden file is removed.
 */
export async function replaceFile(
  path: string,
  content: string | Uint8Array,
  mode: FileMode = "shared",
): Promise<void> {
  const directory = dirname(path);
  await mkdir(directory, { recursive: true });
  const temporary = join(directory, `.${basename(path)}.${String(process.pid)}.tmp`);
  try {
    const file = await open(temporary, "w", mode === "private" ? 0o600 : 0o666);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncDirectory(directory);
}

/** Makes the rename survive a crash of the machine. Some systems cannot sync a directory. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, "r").catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}
