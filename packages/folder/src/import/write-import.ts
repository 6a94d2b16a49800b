import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  realpath,
  rename,
  rm,
  rmdir,
  writeFile,
} from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { Registry } from "@bufbuild/protobuf";
import { createResourceCheck } from "../check-resource.ts";
import { folderContext } from "../folder-context.ts";
import type { FolderProblem } from "../folder-problem.ts";
import { type FolderContent, readEntries } from "../read-folder.ts";
import type { Imported } from "./imported.ts";

/** Where {@link writeImport} writes. */
export interface ImportTarget {
  /** The folder. */
  readonly dir: string;
  /** The file of the bootstrap. */
  readonly bootstrap: string;
  /** Whether the folder may hold something, and files are replaced. Files that the import does not have stay. */
  readonly force: boolean;
  /** The messages that the files may hold. */
  readonly registry: Registry;
}

/** Why nothing was written. */
export type ImportConflict =
  | { readonly kind: "not-empty"; readonly path: string }
  | { readonly kind: "exists"; readonly path: string }
  /** The folder could not be served; problems name files below it. */
  | { readonly kind: "invalid"; readonly problems: readonly FolderProblem[] };

/**
 * Writes an import: all of it, or nothing. A folder that is new or empty appears at once; in one that holds something each file is replaced by a rename, and all go back where one cannot be.
 * Files with secrets have mode 0600. Answers with a conflict where something is in the way and `force` is false, and where the folder could not be served. Rejects with the errors of the file system.
 */
export async function writeImport(
  { files, bootstrap }: Pick<Imported, "files" | "bootstrap">,
  { dir, bootstrap: bootstrapFile, force, registry }: ImportTarget,
): Promise<ImportConflict | undefined> {
  const held = await entriesOf(dir);
  if (!force && held.length > 0) return { kind: "not-empty", path: dir };
  if (!force && (await exists(bootstrapFile))) return { kind: "exists", path: bootstrapFile };
  const target = await realpath(dir).catch(() => resolve(dir));
  await mkdir(dirname(target), { recursive: true });
  await mkdir(dirname(resolve(bootstrapFile)), { recursive: true });
  // A hidden name, which nothing reads, in the same file system.
  const staging = await mkdtemp(join(dirname(target), `.${basename(target)}-import-`));
  const undo: (() => Promise<unknown>)[] = [];
  try {
    const fresh = join(staging, "new");
    await mkdir(fresh);
    for (const { path, text, isSecret } of files)
      await writeInto(join(fresh, path), text, isSecret);
    const { problems } = await asServed(fresh, registry);
    if (problems.length > 0)
      return {
        kind: "invalid",
        problems: problems.map((one) => ({ ...one, file: one.file.replace(fresh, dir) })),
      };
    const staged = `${resolve(bootstrapFile)}.${basename(staging)}`;
    undo.push(() => rm(staged, { force: true }));
    await writeInto(staged, bootstrap.text, bootstrap.isSecret);
    if (held.length === 0) {
      await chmod(fresh, 0o755);
      await rmdir(target).catch(() => undefined);
      undo.push(() => rename(target, fresh));
      await rename(fresh, target);
    } else for (const { path } of files) await replace(join(fresh, path), join(target, path));
    await rename(staged, resolve(bootstrapFile));
  } catch (error) {
    for (const step of undo.reverse()) await step().catch(() => undefined);
    throw error;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  return undefined;

  async function replace(from: string, to: string): Promise<void> {
    const old = join(staging, "old", String(undo.length));
    await mkdir(dirname(old), { recursive: true });
    await mkdir(dirname(to), { recursive: true });
    if (await exists(to)) {
      await rename(to, old);
      undo.push(() => rename(old, to));
    }
    await rename(from, to);
    undo.push(() => rm(to));
  }
}

/** Reads a folder with the checks of one that is served. */
async function asServed(dir: string, registry: Registry): Promise<FolderContent> {
  const context = folderContext({ dir, registry });
  const check = await createResourceCheck(context);
  return (await readEntries({ dir, registry }, { ...context, check })).content;
}

/** No one else may read a secret, at no time. */
async function writeInto(file: string, text: string, isSecret: boolean): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text, { mode: isSecret ? 0o600 : 0o644, flag: "wx" });
}

async function entriesOf(dir: string): Promise<readonly string[]> {
  try {
    return await readdir(dir);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

async function exists(file: string): Promise<boolean> {
  try {
    await lstat(file);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return false;
    throw error;
  }
}
