import {
  copyFile,
  mkdir,
  readdir,
  readlink,
  realpath,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import type { Registry } from "@bufbuild/protobuf";
import { checkFolder } from "../check-folder.ts";
import { createResourceCheck } from "../check-resource.ts";
import { folderContext } from "../folder-context.ts";
import type { FolderProblem } from "../folder-problem.ts";
import { readEntries } from "../read-folder.ts";
import type { Imported } from "./imported.ts";
import { codeOf, createSteps, exists, stagingPrefix } from "./undoable-steps.ts";

/** Options of {@link writeImport}. */
export interface ImportTarget {
  /** The folder. */
  readonly dir: string;
  /** The file of the bootstrap. */
  readonly bootstrap: string;
  /** true: the folder may contain files, and files of the same path are replaced. Files that the import does not have stay. Symbolic links in the folder are followed. */
  readonly force: boolean;
  /** The messages that the files may hold. */
  readonly registry: Registry;
  /** true: everything is checked and nothing is written. Default: false. */
  readonly dryRun?: boolean;
  /** Stops the writing: written files are removed, replaced files are restored, and the promise rejects with the reason. */
  readonly signal?: AbortSignal;
  /** Called with each hidden folder of an import that was killed. It may contain secrets. */
  readonly onLeftover?: (path: string) => void;
}

/** Why nothing was written. */
export type ImportConflict =
  | { readonly kind: "not-empty"; readonly path: string }
  | { readonly kind: "exists"; readonly path: string }
  /** The bootstrap would be in the folder, where it would be read as a resource. */
  | { readonly kind: "inside"; readonly path: string }
  /** A file has this path, and a folder needs it. */
  | { readonly kind: "not-a-folder"; readonly path: string }
  /** A symbolic link on the way leads to a path that does not exist. */
  | { readonly kind: "broken-link"; readonly path: string; readonly to: string }
  /** A folder has this path, and a file needs it. */
  | { readonly kind: "not-a-file"; readonly path: string }
  /** The folder could not be served; problems name files below it. */
  | { readonly kind: "invalid"; readonly problems: readonly FolderProblem[] };

/**
 * Writes an import: all of it, or nothing. A folder that is new appears at once. One that exists stays as it is, with its mode: each file in it is placed by a rename, and all are restored where one cannot be.
 * Files with secrets have mode 0600. Returns a conflict where something is in the way and `force` is false, and where the folder could not be served with its other files. Rejects with the errors of the file system; their `path` is one that the caller knows, not that of a temporary file.
 */
export async function writeImport(
  imported: Pick<Imported, "files" | "bootstrap">,
  target: ImportTarget,
): Promise<ImportConflict | undefined> {
  try {
    return await write(imported, target);
  } catch (error) {
    if (error instanceof BrokenLink) return { kind: "broken-link", ...error.link };
    throw withKnownPath(error);
  }
}

async function write(
  { files, bootstrap }: Pick<Imported, "files" | "bootstrap">,
  target: ImportTarget,
): Promise<ImportConflict | undefined> {
  const { force, dryRun = false, signal } = target;
  const dir = await realPath(target.dir);
  const file = resolve(target.bootstrap);
  const bootstrapFile = join(await realPath(dirname(file)), basename(file));
  const paths: ImportPaths = { dir, bootstrapFile, files: files.map(({ path }) => path) };
  const conflict = await conflictAt(paths, target);
  if (conflict !== undefined) return conflict;
  const steps = createSteps(signal);
  const isNew = !(await exists(dir));
  try {
    const staging = await steps.stage(dryRun ? tmpdir() : isNew ? dirname(dir) : dir);
    const fresh = join(staging, "new");
    await mkdir(fresh);
    for (const { path, text, isSecret } of files)
      await writeInto(join(fresh, path), text, isSecret);
    const problems = await problemsOf({ fresh, staging, isNew, ...paths }, target);
    if (problems.length > 0) return { kind: "invalid", problems };
    if (dryRun) return undefined;
    const staged = join(await steps.stage(dirname(bootstrapFile)), "bootstrap");
    await writeInto(staged, bootstrap.text, bootstrap.isSecret);
    if (isNew) await steps.placeFolder(fresh, dir, paths.files);
    else
      for (const path of paths.files)
        await steps.placeFile(join(fresh, path), join(dir, path), { force });
    await steps.placeFile(staged, bootstrapFile, { force });
    steps.keep();
  } finally {
    await steps.end();
  }
  return undefined;
}

/** The paths that are written, with their symbolic links resolved. */
interface ImportPaths {
  readonly dir: string;
  readonly bootstrapFile: string;
  /** Below the folder. */
  readonly files: readonly string[];
}

/** Returns the conflict that prevents the writing. Reports the hidden folders of earlier imports. */
async function conflictAt(
  { dir, bootstrapFile, files }: ImportPaths,
  { dir: given, bootstrap, force, onLeftover }: ImportTarget,
): Promise<ImportConflict | undefined> {
  if (dir === bootstrapFile || isInside(dir, bootstrapFile))
    return { kind: "inside", path: bootstrap };
  if ((await kindOf(dir)) === "file") return { kind: "not-a-folder", path: given };
  for (const one of new Set([dirname(dir), dir, dirname(bootstrapFile)]))
    for (const name of await entriesOf(one).catch(() => []))
      if (name.startsWith(stagingPrefix)) onLeftover?.(join(one, name));
  const held = (await entriesOf(dir)).filter((name) => !name.startsWith(stagingPrefix));
  if (!force && held.length > 0) return { kind: "not-empty", path: given };
  if (!force && (await exists(bootstrapFile))) return { kind: "exists", path: bootstrap };
  if ((await kindOf(bootstrapFile)) === "folder") return { kind: "not-a-file", path: bootstrap };
  for (const path of files) {
    if ((await kindOf(join(dir, path))) === "folder")
      return { kind: "not-a-file", path: join(given, path) };
    for (let above = dirname(path); above !== "."; above = dirname(above))
      if ((await kindOf(join(dir, above))) === "file")
        return { kind: "not-a-folder", path: join(given, above) };
  }
  return undefined;
}

/** Returns the problems that `serve` would report of the folder, with the files that are already in it. */
async function problemsOf(
  {
    dir,
    fresh,
    staging,
    isNew,
    files,
  }: ImportPaths & { readonly fresh: string; readonly staging: string; readonly isNew: boolean },
  { dir: given, registry, force }: ImportTarget,
): Promise<readonly FolderProblem[]> {
  const shown = (problems: readonly FolderProblem[], checked: string) =>
    problems.map((one) => ({ ...one, file: one.file.replace(checked, given) }));
  const context = folderContext({ dir: fresh, registry });
  const check = await createResourceCheck(context);
  const { content } = await readEntries({ dir: fresh, registry }, { ...context, check });
  if (content.problems.length > 0 || !force || isNew) return shown(content.problems, fresh);
  const whole = join(staging, "whole");
  await copyFolder(dir, whole, []);
  for (const path of files) {
    await mkdir(dirname(join(whole, path)), { recursive: true });
    await rm(join(whole, path), { force: true });
    await copyFile(join(fresh, path), join(whole, path));
  }
  return shown((await checkFolder({ dir: whole, registry })).problems, whole);
}

/** Copies the files that are read, and those that links lead to. A link that leads to a folder above it is left out. */
async function copyFolder(from: string, to: string, above: readonly string[]): Promise<void> {
  const real = await realpath(from);
  if (above.includes(real)) return;
  await mkdir(to);
  for (const name of await readdir(from)) {
    if (name.startsWith(stagingPrefix)) continue;
    const kind = await stat(join(from, name)).catch(() => undefined);
    if (kind?.isDirectory() === true)
      await copyFolder(join(from, name), join(to, name), [...above, real]);
    else if (kind?.isFile() === true) await copyFile(join(from, name), join(to, name));
  }
}

/** Creates a file. One with a secret has its mode from the beginning, so that other users can never read it. */
async function writeInto(file: string, text: string, isSecret: boolean): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text, { mode: isSecret ? 0o600 : 0o644, flag: "wx" });
}

/** The path without symbolic links, as far as it exists. Rejects with a {@link BrokenLink}. */
async function realPath(path: string): Promise<string> {
  const whole = resolve(path);
  try {
    return await realpath(whole);
  } catch (error) {
    if (codeOf(error) !== "ENOENT" || dirname(whole) === whole) throw error;
    const to = await readlink(whole).catch(() => undefined);
    if (to !== undefined) throw new BrokenLink({ path: whole, to });
    return join(await realPath(dirname(whole)), basename(whole));
  }
}

/** A symbolic link leads to a path that does not exist. */
class BrokenLink extends Error {
  readonly link: { readonly path: string; readonly to: string };

  constructor(link: BrokenLink["link"]) {
    super(`${link.path} leads to ${link.to}, which does not exist`);
    this.link = link;
  }
}

/** An error about a temporary file gets the path of the folder that was to be written. */
function withKnownPath(error: unknown): unknown {
  if (codeOf(error) === "") return error;
  const { path, dest } = error as NodeJS.ErrnoException & { readonly dest?: string };
  const paths = [dest, path].filter((one) => one !== undefined);
  const known = paths.find((one) => !one.includes(stagingPrefix));
  const above = paths[0]?.slice(0, paths[0].indexOf(stagingPrefix));
  const shown = known ?? (above && resolve(above));
  return shown === undefined ? error : Object.assign(error as Error, { path: shown, dest: shown });
}

function isInside(dir: string, path: string): boolean {
  const way = relative(dir, path);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

async function entriesOf(dir: string): Promise<readonly string[]> {
  try {
    return await readdir(dir);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}

/** Returns the kind of the file at a path, or of the target of a link. undefined: it does not exist. */
async function kindOf(path: string): Promise<"file" | "folder" | undefined> {
  try {
    return (await stat(path)).isDirectory() ? "folder" : "file";
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(codeOf(error))) return undefined;
    throw error;
  }
}
