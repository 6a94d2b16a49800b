import { chmod, link, lstat, mkdir, mkdtemp, readdir, rename, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Steps that are all done, or all undone. */
export interface UndoableSteps {
  /** Creates a folder for files that are not complete, which only this user may read. */
  stage(above: string): Promise<string>;
  /** Moves a folder to a path that does not exist. */
  placeFolder(from: string, to: string, files: readonly string[]): Promise<void>;
  /** Moves a file. With `force` it replaces one. */
  placeFile(from: string, to: string, options: { readonly force: boolean }): Promise<void>;
  /** Marks all steps as done. */
  keep(): void;
  /** Undoes the steps unless they are marked as done, and removes incomplete files. */
  end(): Promise<void>;
}

/** The prefix of folders with incomplete files. They are hidden, so that no server reads them. */
export const stagingPrefix = ".xdstp-import-";

/** A step is undone only if it has happened, and removes only what it has made. */
export function createSteps(signal: AbortSignal | undefined): UndoableSteps {
  const undo: (() => Promise<unknown>)[] = [];
  const staged: string[] = [];
  const made: (() => Promise<unknown>)[] = [];
  return {
    async stage(above) {
      await makeFolder(above);
      const made = await mkdtemp(join(above, stagingPrefix));
      staged.push(made);
      return made;
    },
    async placeFolder(from, to, files) {
      signal?.throwIfAborted();
      await chmod(from, 0o755);
      await mkdir(to); // Rejects where another program has made one.
      undo.push(() => rmdir(to));
      const own = await Promise.all(
        files.map(async (path) => [join(to, path), await lstat(join(from, path))] as const),
      );
      await rename(from, to);
      undo.push(async () => {
        for (const [path, { dev, ino }] of own) {
          await removeOwn(path, { dev, ino });
          await removeEmpty(dirname(path), to);
        }
      });
    },
    async placeFile(from, to, { force }) {
      signal?.throwIfAborted();
      await makeFolder(dirname(to));
      const own = await lstat(from);
      if (force && (await exists(to))) {
        const old = `${from}.old`;
        await rename(to, old);
        undo.push(() => moveNew(old, to));
      }
      await moveNew(from, to);
      undo.push(() => removeOwn(to, own));
    },
    keep() {
      signal?.throwIfAborted();
      undo.length = 0;
      made.length = 0;
    },
    async end() {
      const failures: unknown[] = [];
      for (const step of undo.reverse())
        await step().catch((error: unknown) => {
          failures.push(error);
        });
      for (const one of staged) await removeStaging(one, failures.length > 0);
      for (const step of made.reverse()) await step();
    },
  };

  async function makeFolder(path: string): Promise<void> {
    const first = await mkdir(path, { recursive: true });
    if (first !== undefined) made.push(() => removeEmpty(path, dirname(first)));
  }
}

/** Removes the hidden folder. If a file could not be restored, the replaced files stay in it. */
async function removeStaging(path: string, keepsReplaced: boolean): Promise<void> {
  if (!keepsReplaced) {
    await rm(path, { recursive: true, force: true });
    return;
  }
  for (const one of await readdir(path, { recursive: true, withFileTypes: true }))
    if (!one.isDirectory() && !one.name.endsWith(".old"))
      await rm(join(one.parentPath, one.name), { force: true });
  await removeEmptyBelow(path);
}

/** Removes a folder with those in it, as far as they hold no file. */
async function removeEmptyBelow(path: string): Promise<void> {
  for (const one of await readdir(path, { withFileTypes: true }))
    if (one.isDirectory()) await removeEmptyBelow(join(path, one.name));
  await rmdir(path).catch(() => undefined);
}

/** Removes folders from the bottom up while they are empty, and not the last one. */
async function removeEmpty(from: string, last: string): Promise<void> {
  for (let path = from; path !== last && path !== dirname(path); path = dirname(path))
    await rmdir(path).catch(() => undefined);
}

/** Removes a file unless it is another one by now. */
async function removeOwn(
  path: string,
  made: { readonly dev: number; readonly ino: number },
): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.dev === made.dev && found.ino === made.ino) await rm(path);
}

/** Moves a file, and replaces nothing. */
async function moveNew(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (!["EPERM", "ENOSYS", "ENOTSUP", "EOPNOTSUPP", "EMLINK"].includes(codeOf(error)))
      throw error;
    // A file system without hard links.
    if (await exists(to))
      throw Object.assign(new Error(`${to} exists`, { cause: error }), {
        code: "EEXIST",
        dest: to,
      });
    await rename(from, to);
    return;
  }
  await rm(from);
}

/** Returns true if a path exists, also as a link without a target. */
export async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

/** The code of an error of the file system; empty for others. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
