import { join, relative, resolve, sep } from "node:path";
import { XdsError } from "@xdstp/core";
import type { FileSystem } from "@xdstp/folder/files";
import { parseLocator } from "@xdstp/uri";

/** A `file://` name, read. */
export interface NativeName {
  /** The absolute path of the file, or of the directory of a glob. */
  readonly path: string;
  /** True: each file directly in the directory is a member. */
  readonly isGlob: boolean;
  /** The entry of the list in the file (C-NFILE-6). Absent: the file itself. */
  readonly entry: string | undefined;
}

/**
 * Reads a name (C-NFILE-1). Throws an XdsError: INVALID_ARGUMENT for a text that is not a name of a
 * file, PERMISSION_DENIED for a path outside of the directory (C-NFILE-7).
 */
export function readNativeName(name: string, directory: string): NativeName {
  const read = parseLocator(name);
  if (!read.ok || read.value.scheme !== "file")
    throw invalid(name, read.ok ? "its scheme is not file" : read.error.message);
  const { id, directives } = read.value;
  const entry = directives.find(({ kind }) => kind === "entry");
  if (directives.length > (entry === undefined ? 0 : 1))
    throw invalid(name, "a file has no alternatives; only #entry=NAME may follow");
  if (id.includes("\0")) throw invalid(name, "it has a NUL");
  const isGlob = id === "*" || id.endsWith("/*");
  const path = resolve(`/${isGlob ? id.slice(0, -1) : id}`);
  if (!isBelow(path, resolve(directory))) throw outside(name, directory);
  return { path, isGlob, entry: entry?.kind === "entry" ? entry.entry : undefined };
}

/**
 * Resolves all links of a path, and checks that it is still below the directory (C-NFILE-7).
 * Rejects with the error of the file system if the path does not exist.
 */
export async function resolvedBelow(
  path: string,
  name: string,
  directory: string,
  files: FileSystem,
): Promise<void> {
  if (!isBelow(await files.realpath(path), await files.realpath(directory)))
    throw outside(name, directory);
}

/** Returns true for a directory itself and for what is in it. */
function isBelow(path: string, directory: string): boolean {
  const way = relative(directory, path);
  return (
    way === "" || (!way.startsWith(`..${sep}`) && way !== ".." && join(directory, way) === path)
  );
}

function invalid(name: string, reason: string): XdsError {
  return new XdsError(
    "INVALID_ARGUMENT",
    `${JSON.stringify(name)} is not a name of a file: ${reason}`,
    {
      resource: name,
      rule: "C-NFILE-1",
    },
  );
}

function outside(name: string, directory: string): XdsError {
  return new XdsError(
    "PERMISSION_DENIED",
    `${JSON.stringify(name)} leads out of ${directory}, the directory of file names`,
    { resource: name, rule: "C-NFILE-7" },
  );
}
