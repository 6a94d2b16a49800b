import { join } from "node:path";
import type { Registry } from "@bufbuild/protobuf";
import { type AnyBytes, type Resource, XdsError } from "@xdstp/core";
import { walkList } from "@xdstp/core/wire";
import {
  type FileSystem,
  formatProblem,
  isGone,
  type NativeFile,
  type Patience,
  readBytes,
  readNativeFile,
} from "@xdstp/folder/files";
import { collectionTypeOf, typeFromTypeUrl, typeUrlFromType } from "@xdstp/uri";

import { isMember } from "./native-member.ts";
import { resolvedBelow } from "./native-path.ts";

/** The content of a path. */
export type NativeContent =
  | { readonly kind: "file"; readonly file: NativeFile; readonly stamp: string }
  /** It cannot be read, or is not valid. */
  | { readonly kind: "invalid"; readonly error: XdsError; readonly stamp: string }
  | { readonly kind: "missing" };

/** The parts that each reading needs. */
export interface NativeReading {
  readonly directory: string;
  readonly registry: Registry;
  readonly patience: Patience;
  readonly files: FileSystem;
}

/** Reads a file, unless it is as it was at `before`. `name` is for errors. */
export async function readNative(
  path: string,
  name: string,
  before: NativeContent | undefined,
  { directory, registry, patience, files }: NativeReading,
): Promise<NativeContent> {
  let stamp = "";
  try {
    await patience(path, async () => resolvedBelow(path, name, directory, files));
    const stats = await patience(path, async () => files.stat(path));
    stamp = `${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`;
    if (before !== undefined && before.kind !== "missing" && before.stamp === stamp) return before;
    if (!stats.isFile()) throw fault(`${path} is not a file`);
    const read = readNativeFile(
      path,
      await readBytes(path, Number(stats.size), patience, files),
      registry,
    );
    return "problem" in read
      ? { kind: "invalid", error: fault(formatProblem(read.problem)), stamp }
      : { kind: "file", file: read, stamp };
  } catch (error) {
    if (isGone(error)) return { kind: "missing" };
    return { kind: "invalid", error: asError(error, path), stamp };
  }
}

/** Returns the names of the files in a directory that are members, sorted; undefined: it does not exist. */
export async function membersOf(
  path: string,
  name: string,
  { directory, patience, files }: NativeReading,
): Promise<readonly string[] | undefined | XdsError> {
  try {
    await patience(path, async () => resolvedBelow(path, name, directory, files));
    const found: string[] = [];
    for (const entry of await patience(path, async () => files.readdir(path)))
      if (isMember(entry.name) && !entry.isDirectory()) found.push(entry.name);
    const regular: string[] = [];
    for (const file of found)
      if (await isRegular(join(path, file), patience, files)) regular.push(file);
    return regular.sort();
  } catch (error) {
    return isGone(error) ? undefined : asError(error, path);
  }
}

/** A link may lead to a directory. */
async function isRegular(path: string, patience: Patience, files: FileSystem): Promise<boolean> {
  try {
    return (await patience(path, async () => files.stat(path))).isFile();
  } catch {
    return false;
  }
}

/**
 * Returns the resource of a file under a name, or the reason why it has none: another type than the
 * one that is expected (C-NFILE-3), or no such entry (C-NFILE-6).
 */
export function resourceIn(
  { version, payload }: NativeFile,
  {
    typeUrl,
    name,
    entry,
  }: { readonly typeUrl: string; readonly name: string; readonly entry: string | undefined },
): Resource | XdsError {
  const type = typeFromTypeUrl(typeUrl) ?? "";
  const list = typeUrlFromType(collectionTypeOf(type));
  if (entry !== undefined) {
    if (payload.typeUrl !== list) return wrongType(name, payload, list);
    return entryIn(payload, { typeUrl, name, entry });
  }
  if (payload.typeUrl !== typeUrl && payload.typeUrl !== list)
    return wrongType(name, payload, typeUrl);
  return { name, version, payload };
}

function entryIn(
  payload: AnyBytes,
  {
    typeUrl,
    name,
    entry,
  }: { readonly typeUrl: string; readonly name: string; readonly entry: string },
): Resource | XdsError {
  let found: Resource | undefined;
  const problem = walkList(payload.value, typeUrl, (one) => {
    if (one.kind === "inline" && one.name === entry)
      found = { name, version: one.version, payload: one.payload };
    return undefined;
  });
  if (problem !== undefined) return fault(`${name}: ${problem.text}`, problem.rule);
  return (
    found ??
    new XdsError("NOT_FOUND", `${name}: the list has no inline entry ${JSON.stringify(entry)}`, {
      reason: "no-entry",
      rule: "C-LIST-7",
    })
  );
}

function wrongType(name: string, { typeUrl }: AnyBytes, expected: string): XdsError {
  return fault(`${name} holds a ${typeUrl}, but ${expected} is expected`, "C-NFILE-3");
}

function fault(text: string, rule?: string): XdsError {
  return new XdsError("INVALID_ARGUMENT", text, { rule });
}

function asError(error: unknown, path: string): XdsError {
  if (error instanceof XdsError) return error;
  return new XdsError(
    "UNAVAILABLE",
    `${path}: ${error instanceof Error ? error.message : String(error)}`,
  );
}
