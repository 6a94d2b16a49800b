import { basename, dirname, join, resolve } from "node:path";

import { type FileSystem, machineFiles } from "./file-system.ts";

/** The largest number of links in one path. Linux has the same limit. */
const maxLinks = 40;

/** The entries that decide where paths lead to, by directory. */
export type LinkEntries = Map<string, Set<string>>;

/**
 * Returns the directory entries that decide where these paths lead to: each symbolic link in a path, and the file or directory at its end.
 * If one of them is replaced, the path may lead elsewhere. Example: Kubernetes mounts a volume as `x.yaml -> ..data/x.yaml`, `..data -> ..2024/`, and replaces only `..data`.
 * A path ends, without an error, at an entry that does not exist and after 40 links.
 *
 * @param files - Default: the file system of the machine
 */
export async function followLinks(
  paths: readonly string[],
  files: FileSystem = machineFiles,
): Promise<LinkEntries> {
  const follow: Follow = { entries: new Map(), directories: new Map(), files };
  for (const path of paths) {
    const end = await realPath(follow, resolve(path), 0);
    note(follow, end);
  }
  return follow.entries;
}

interface Follow {
  readonly entries: LinkEntries;
  /** Directories that were followed before, with the directories that they lead to. */
  readonly directories: Map<string, string>;
  readonly files: FileSystem;
}

async function realPath(follow: Follow, path: string, links: number): Promise<string> {
  if (dirname(path) === path || links > maxLinks) return path;
  const here = join(await realDirectory(follow, dirname(path), links), basename(path));
  const target = await follow.files.readlink(here).catch(() => undefined);
  if (target === undefined) return here;
  note(follow, here);
  return await realPath(follow, resolve(dirname(here), target), links + 1);
}

async function realDirectory(follow: Follow, path: string, links: number): Promise<string> {
  const known = follow.directories.get(path);
  if (known !== undefined) return known;
  const real = await realPath(follow, path, links);
  follow.directories.set(path, real);
  return real;
}

function note({ entries }: Follow, path: string): void {
  const names = entries.get(dirname(path));
  if (names === undefined) entries.set(dirname(path), new Set([basename(path)]));
  else names.add(basename(path));
}
