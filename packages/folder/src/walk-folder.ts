import type { Dirent, Stats } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { extensions, isUtf8, notUtf8, opaqueFolder, splitFileName } from "./place.ts";
import { arrangePemFiles, type PemFile, pemFileOf } from "./pem-files.ts";
import { fileTrouble, type FolderProblem, quote } from "./folder-problem.ts";
import { mapLimit, type Patience } from "./pacing.ts";

/** Directories below the root, links to directories included: diamonds of links could make more than fit anywhere. */
const maxDirectories = 100_000;
const maxDepth = 64;
const parallel = 32;
/** Up to this number of files that are not read are named. */
const mostUnread = 5;

/** A resource file. */
export interface FoundFile {
  /** Below the root. */
  readonly segments: readonly string[];
  readonly stats: Stats;
  /** It is a PEM file of a secret. Absent: it holds resources. */
  readonly pem?: PemFile;
}

/** A directory of the folder, the root included. */
export interface FoundDirectory {
  /** Equal as long as the path leads to the same directory. */
  readonly identity: string;
  /** The file system that it lies in. */
  readonly device: string;
  /** It is mounted: it lies in another file system than its parent, and is not reached by a link. */
  readonly isMount: boolean;
  /** It is reached by a link that lies in the folder. */
  readonly isLink: boolean;
  /** Where the root lies. Absent: this is not the root, or it cannot be found out. */
  readonly place?: FolderPlace | undefined;
  /** It holds nothing but what is never read. */
  readonly isEmpty: boolean;
}

/** Where a folder lies in the file system. */
export interface FolderPlace {
  /** Its path without links. */
  readonly path: string;
  /** The start of that path that lies in the same file system: where that is mounted. */
  readonly mountPoint: string;
}

/** What lies in a folder. */
export interface FolderListing {
  /** By path below the root, with slashes; the root is the empty path. */
  readonly directories: ReadonlyMap<string, FoundDirectory>;
  /** In the order of their paths. */
  readonly files: readonly FoundFile[];
  /** Files and directories that are reached by a symbolic link. */
  readonly links: readonly string[];
  readonly problems: readonly FolderProblem[];
  readonly warnings: readonly FolderProblem[];
}

/** Called for each directory before it is listed, so that a watch misses nothing. */
export type OnDirectory = (directory: string) => Promise<unknown>;

/**
 * Lists the resource files of a folder; hidden and temporary ones are left out, symbolic links are followed.
 * Rejects where the folder itself cannot be listed; what is wrong below it is a problem: a loop of links, a link to nothing, no permission.
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
  /** Files that are not read, hidden ones left out. */
  readonly unread: string[];
  readonly files: FoundFile[];
  readonly links: string[];
  readonly problems: FolderProblem[];
  readonly warnings: FolderProblem[];
  readonly directories: Map<string, FoundDirectory>;
  /** The first directory that is not read, because the limit of directories is reached. */
  beyond: string | undefined;
}

/** `ancestors` are the identities of the directories on the way from the root. */
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

/** Whether something would be lost without a word, were it left out: a name that is not UTF-8 leads to nothing. */
function mayHoldResources(entry: Dirent): boolean {
  return !entry.isFile() || splitFileName(entry.name) !== undefined;
}

/** Notes a file; true for a directory. */
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

/** undefined: it was removed since the directory was listed, and the watch will report it. A link to nothing stays, so it throws. */
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

/** A file next to the resources that looks like none of them may be a typing error. */
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

/** An empty folder is valid, and yet it is seldom what was meant. */
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

/** Whether an error of the file system says that there is nothing of that name. */
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
 * Whether a file or folder of this name is never read: hidden ones (also `..data` of Kubernetes, `.#x` of Emacs), and what editors leave for a moment:
 * `x~`, `#x#`, `x.swp`, `x.swo`, `x.swx`, `x.tmp`, `x.temp`, `x.bak`, `x.orig`, `x.part`, `___jb_tmp___`, `___jb_old___`, `4913`; and `lost+found`.
 */
export function isIgnored(name: string): boolean {
  if (name.startsWith(".") || names.has(name)) return true;
  if (name.startsWith("#") && name.endsWith("#")) return true;
  return endings.some((ending) => name.endsWith(ending)) || /___jb_(tmp|old)___$/.test(name);
}
