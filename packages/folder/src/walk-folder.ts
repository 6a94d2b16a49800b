import type { Dirent, Stats } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { extensions, isUtf8, notUtf8, opaqueFolder, splitFileName } from "./place.ts";
import { arrangePemFiles, type PemFile, pemFileOf } from "./pem-files.ts";
import { fileTrouble, type FolderProblem, quote } from "./folder-problem.ts";
import { mapLimit, type Patience } from "./pacing.ts";

/** The largest number of directories below the root. Links to directories count, since links could repeat the same directories without end. */
const maxDirectories = 100_000;
const maxDepth = 64;
const parallel = 32;
/** The number of files that are not read whose names are shown. */
const mostUnread = 5;

/** A resource file. */
export interface FoundFile {
  /** The path below the root. */
  readonly segments: readonly string[];
  readonly stats: Stats;
  /** The kind of PEM file, for a file of a secret. Absent: the file contains resources. */
  readonly pem?: PemFile;
}

/** A directory of the folder, or the folder itself. */
export interface FoundDirectory {
  /** A text that is equal as long as the path leads to the same directory. */
  readonly identity: string;
  /** The device number of its file system. */
  readonly device: string;
  /** true: it is mounted. Its file system differs from that of its parent, and it is not a link. */
  readonly isMount: boolean;
  /** true: it is a link in the folder. */
  readonly isLink: boolean;
  /** The place of the root. Absent: this is not the root, or its place cannot be determined. */
  readonly place?: FolderPlace | undefined;
  /** true: it is empty, except for files that are never read. */
  readonly isEmpty: boolean;
}

/** The place of a folder in the file system. */
export interface FolderPlace {
  /** The path of the folder without links. */
  readonly path: string;
  /** The beginning of that path that is in the same file system, which is the mount point. */
  readonly mountPoint: string;
}

/** The content of a folder. */
export interface FolderListing {
  /** The directories by path below the root, with slashes. The root is the empty path. */
  readonly directories: ReadonlyMap<string, FoundDirectory>;
  /** The files in the order of their paths. */
  readonly files: readonly FoundFile[];
  /** Files and directories that are symbolic links. */
  readonly links: readonly string[];
  readonly problems: readonly FolderProblem[];
  readonly warnings: readonly FolderProblem[];
}

/** Called for each directory before it is listed, so that a watch misses no change. */
export type OnDirectory = (directory: string) => Promise<unknown>;

/**
 * Lists the resource files of a folder. Hidden and temporary files are left out, and symbolic links are followed.
 * Rejects if the folder itself cannot be listed. Failures below it are problems: a loop of links, a link to a missing target, a missing permission.
 */
export async function walkFolder(
  dir: string,
  onDirectory: OnDirectory,
  patience: Patience,
): Promise<FolderListing> {
  const walk: Walk = {
    dir,
    unread: [],
    onDirectory,
    patience,
    files: [],
    links: [],
    problems: [],
    warnings: [],
    directories: new Map(),
    beyond: undefined,
  };
  await visit(walk, [], []);
  if (walk.beyond !== undefined)
    walk.problems.push({
      file: walk.beyond,
      code: "unreadable-file",
      message: `is not read, nor are the folders after it: there are more than ${maxDirectories.toLocaleString("en")}`,
      hint: "look for symbolic links to folders",
    });
  if (walk.files.length === 0) walk.warnings.push(nothingRead(walk));
  walk.files.sort((a, b) => compare(a.segments.join("/"), b.segments.join("/")));
  return { ...walk, files: arrangePemFiles(walk.files) };
}

interface Walk {
  readonly dir: string;
  readonly onDirectory: OnDirectory;
  readonly patience: Patience;
  /** Files that are not read, except hidden ones. */
  readonly unread: string[];
  readonly files: FoundFile[];
  readonly links: string[];
  readonly problems: FolderProblem[];
  readonly warnings: FolderProblem[];
  readonly directories: Map<string, FoundDirectory>;
  /** The first directory that is not read because there are too many. `undefined`: there are not. */
  beyond: string | undefined;
}

/** Reads a directory. `ancestors`: the identities of the directories between the root and this one. */
async function visit(
  walk: Walk,
  segments: readonly string[],
  ancestors: readonly string[],
): Promise<void> {
  const directory = join(walk.dir, ...segments);
  await walk.onDirectory(directory);
  const { dev, ino } = await walk.patience(directory, () => stat(directory, { bigint: true }));
  const identity = `${dev}:${ino}`;
  if (ancestors.includes(identity)) {
    walk.problems.push({
      file: directory,
      code: "unreadable-file",
      message: "is a symbolic link to a folder that it lies in",
      hint: "remove the link",
    });
    return;
  }
  if (segments.length > maxDepth) {
    walk.problems.push({
      file: directory,
      code: "unreadable-file",
      message: `lies in more than ${maxDepth} folders`,
      hint: "look for symbolic links to folders",
    });
    return;
  }
  if (walk.directories.size >= maxDirectories) {
    walk.beyond ??= directory;
    return;
  }
  const all = await walk.patience(directory, () => readdir(directory, { withFileTypes: true }));
  const entries = all.filter(({ name }) => !isIgnored(name));
  for (const { name } of all)
    if (isIgnored(name) && !name.startsWith(".")) walk.unread.push([...segments, name].join("/"));
  const parent =
    segments.length === 0 ? undefined : walk.directories.get(segments.slice(0, -1).join("/"));
  const isLink = walk.links.includes(directory);
  walk.directories.set(segments.join("/"), {
    identity,
    device: `${dev}`,
    isMount: parent !== undefined && parent.device !== `${dev}` && !isLink,
    isLink,
    isEmpty: entries.length === 0,
    place: parent === undefined ? await placeOf(directory, walk.patience) : undefined,
  });
  const folders = await mapLimit(entries, parallel, async (entry) => {
    const path = [...segments, entry.name];
    if (entry.isSymbolicLink()) walk.links.push(join(walk.dir, ...path));
    if (!isUtf8(entry.name) && mayHoldResources(entry))
      walk.problems.push({ file: join(walk.dir, ...path), ...notUtf8(entry.name) });
    return (await look(walk, path, entry.isSymbolicLink())) ? [path] : [];
  });
  for (const path of folders.flat())
    await below(walk, path, () => visit(walk, path, [...ancestors, identity]));
}

async function placeOf(directory: string, patience: Patience): Promise<FolderPlace | undefined> {
  try {
    return await patience(directory, async () => {
      const path = await realpath(directory);
      const { dev } = await stat(path);
      let mountPoint = path;
      for (let above = dirname(path); above !== mountPoint; above = dirname(above)) {
        if ((await stat(above)).dev !== dev) break;
        mountPoint = above;
      }
      return { path, mountPoint };
    });
  } catch {
    return undefined;
  }
}

/** Returns true if an entry whose name is not UTF-8 may contain resources, so that ignoring it silently would lose them. */
function mayHoldResources(entry: Dirent): boolean {
  return !entry.isFile() || splitFileName(entry.name) !== undefined;
}

/** Notes a file, and returns true for a directory. */
async function look(walk: Walk, path: readonly string[], isLink: boolean): Promise<boolean> {
  return (
    (await below(walk, path, async () => {
      const file = join(walk.dir, ...path);
      const stats = await walk.patience(file, () => statOf(file, isLink));
      if (stats === undefined) return false;
      if (stats.isDirectory()) return true;
      const pem = pemFileOf(path);
      const isResource = pem !== undefined || splitFileName(path.at(-1) ?? "") !== undefined;
      if (!isResource) noteUnread(walk, path);
      else if (stats.isFile()) walk.files.push({ segments: path, stats, ...(pem && { pem }) });
      else
        walk.problems.push({
          file,
          code: "unreadable-file",
          message: "is not a regular file",
          hint: "remove it, or begin its name with a dot",
        });
      return false;
    })) ?? false
  );
}

/** Returns the state of a file. Returns `undefined` if it was removed since the directory was listed; the watch reports this. Throws an error for a link to a missing target, which does not go away by itself. */
async function statOf(file: string, isLink: boolean): Promise<Stats | undefined> {
  try {
    return await stat(file);
  } catch (error) {
    if (isGone(error) && !isLink) return undefined;
    throw isGone(error)
      ? new Error("is a symbolic link to nothing; fix or remove it", { cause: error })
      : error;
  }
}

async function below<T>(
  walk: Walk,
  path: readonly string[],
  run: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await run();
  } catch (error) {
    if (!isGone(error))
      walk.problems.push({ file: join(walk.dir, ...path), ...fileTrouble(error) });
    return undefined;
  }
}

/** Notes a file that is not read. Next to resources, the name of such a file may be a typing error, so there is a warning. */
function noteUnread(walk: Walk, path: readonly string[]): void {
  walk.unread.push(path.join("/"));
  if (path.length < 3) return;
  walk.warnings.push({
    file: join(walk.dir, ...path),
    code: "unread-file",
    message: "is not read: its extension is none of a resource",
    hint: "begin its name with a dot to keep it out",
  });
}

/** Returns the warning for a folder without resources. It is valid, but rarely intended. */
function nothingRead({ dir, unread }: Walk): FolderProblem {
  const names = unread.sort(compare).slice(0, mostUnread).map(quote).join(", ");
  const more = unread.length > mostUnread ? `, and ${unread.length - mostUnread} more` : "";
  const ignored = unread.length === 0 ? "" : `; not read: ${names}${more}`;
  return {
    file: dir,
    code: "no-resources",
    message: `holds no resource${ignored}`,
    hint: `a resource is a file AUTHORITY/TYPE/ID.yaml or ${opaqueFolder}/TYPE/NAME.yaml, for instance ${opaqueFolder}/clusters/web.yaml; the extensions that are read are ${extensions}`,
  };
}

/** Returns true if an error of the file system means that the file does not exist. */
export function isGone(error: unknown): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    (error.code === "ENOENT" || error.code === "ENOTDIR")
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

const names = new Set(["4913", "lost+found"]);
const endings = ["~", ".tmp", ".temp", ".swp", ".swo", ".swx", ".bak", ".orig", ".part"];

/**
 * Returns true if a file or folder with this name is never read: hidden ones (also `..data` of Kubernetes, `.#x` of Emacs), files that editors create temporarily
 * (`x~`, `#x#`, `x.swp`, `x.swo`, `x.swx`, `x.tmp`, `x.temp`, `x.bak`, `x.orig`, `x.part`, `___jb_tmp___`, `___jb_old___`, `4913`), and `lost+found`.
 */
export function isIgnored(name: string): boolean {
  if (name.startsWith(".") || names.has(name)) return true;
  if (name.startsWith("#") && name.endsWith("#")) return true;
  return endings.some((ending) => name.endsWith(ending)) || /___jb_(tmp|old)___$/.test(name);
}
