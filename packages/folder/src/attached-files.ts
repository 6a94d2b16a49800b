import { createHash } from "node:crypto";
import type { Stats } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import type { Put } from "@xdstp/core";
import { secret } from "@xdstp/resource-types";
import { typeFromTypeUrl } from "@xdstp/uri";
import { checkCertificates } from "./certificates.ts";
import { readBytes } from "./file-parser.ts";
import { hasPath } from "./find-position.ts";
import type { FolderContext } from "./folder-context.ts";
import {
  Fault,
  fileTrouble,
  type FolderProblem,
  type JsonPath,
  quote,
  shownKey,
} from "./folder-problem.ts";
import type { Patience } from "./pacing.ts";
import { type FileContent, type FilePut, problemOf } from "./read-file.ts";
import { isGone } from "./walk-folder.ts";

/** Types in which the server replaces the name of a file by its content. In other types, clients read the files. */
const typesWithFiles: ReadonlySet<string> = new Set([secret.typeUrl]);

/** The message that contains a text or the place of it. */
const dataSource = "envoy.config.core.v3.DataSource";

/** A file whose content becomes part of a resource of another file. */
export interface AttachedFile {
  readonly path: string;
  /** The state of the file when it was read, see {@link stampOf}. Empty: the file did not exist. */
  readonly stamp: string;
  /** The time of its last change, in milliseconds since the epoch. */
  readonly changedMs: number;
}

/** The content of a file, including that of the files that it names. */
export interface AttachedContent extends FileContent {
  readonly attached: readonly AttachedFile[];
  /** A hash of the contents that were filled in. Empty: none were. */
  readonly digest: string;
}

/** A field with the name of a file. */
interface NamedFile {
  readonly source: ReflectMessage;
  readonly path: JsonPath;
  readonly filename: string;
}

/** The file that names other files, and how these are read. */
interface Attaching {
  readonly file: string;
  readonly context: FolderContext;
  readonly patience: Patience;
  readonly attached: AttachedFile[];
  readonly hash: ReturnType<typeof createHash>;
  /** true: `file` is a PEM file itself, so symbolic links to its parts are followed like all links in the folder. */
  readonly isPem: boolean;
}

/**
 * Replaces the file names in secrets by the contents of these files. Only paths relative to the own file are replaced; an absolute path is one of the client and stays.
 * Never rejects: a file that does not exist, lies outside of the folder or is not valid for its field is a problem.
 */
export async function attachFiles(
  content: FileContent,
  { file, context, patience, isPem }: Omit<Attaching, "attached" | "hash">,
): Promise<AttachedContent> {
  if (!content.puts.some(({ resource }) => typesWithFiles.has(resource.payload.typeUrl)))
    return { ...content, attached: [], digest: "" };
  const attaching: Attaching = {
    file,
    context,
    patience,
    isPem,
    attached: [],
    hash: createHash("sha256"),
  };
  const problems: FolderProblem[] = [...content.problems];
  const puts: FilePut[] = [];
  for (const put of content.puts)
    try {
      puts.push(await filledPut(put, attaching));
    } catch (error) {
      problems.push(await locatedProblem(error, content.puts.length === 1, attaching));
    }
  const { attached, hash } = attaching;
  const digest = attached.length === 0 ? "" : hash.digest("base64");
  return { ...content, puts, problems, attached, digest };
}

/** Returns a text that differs between two states of a file. */
export function stampOf({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string {
  return `${dev}:${ino}:${size}:${mtimeMs}:${ctimeMs}`;
}

/** Returns true if none of these files has changed. */
export async function areUnchanged(
  attached: readonly AttachedFile[],
  patience: Patience,
): Promise<boolean> {
  for (const { path, stamp } of attached) {
    const stats = await patience(path, () => stat(path)).catch(() => undefined);
    if ((stats === undefined ? "" : stampOf(stats)) !== stamp) return false;
  }
  return true;
}

async function filledPut(put: Put, attaching: Attaching): Promise<Put> {
  const { payload } = put.resource;
  const desc = typesWithFiles.has(payload.typeUrl)
    ? attaching.context.registry.getMessage(typeFromTypeUrl(payload.typeUrl) ?? "")
    : undefined;
  if (desc === undefined) return put;
  const message = reflect(desc, fromBinary(desc, payload.value));
  const named = [...filesIn(message, [])].filter(({ filename }) => !isAbsolute(filename));
  if (named.length === 0) return put;
  const paths = new Map<ReflectMessage["message"], string>();
  for (const one of named) paths.set(one.source.message, await fill(one, attaching));
  checkCertificates(message, paths);
  const value = toBinary(desc, message.message);
  return { ...put, resource: { ...put.resource, payload: { ...payload, value } } };
}

/** Returns all fields in a message, at any depth, that name a file. */
function* filesIn(message: ReflectMessage, path: JsonPath): Generator<NamedFile> {
  if (message.desc.typeName === dataSource) {
    const field = message.desc.fields.find(({ name }) => name === "filename");
    const filename = field && message.isSet(field) ? message.get(field) : undefined;
    if (typeof filename === "string")
      yield { source: message, path: [...path, "filename"], filename };
    return;
  }
  for (const field of message.fields) {
    if (!message.isSet(field)) continue;
    const at = [...path, field.name];
    if (field.fieldKind === "message") yield* filesIn(message.get(field), at);
    if (field.fieldKind === "list" && field.listKind === "message")
      for (const [index, item] of [...message.get(field)].entries())
        yield* filesIn(item as ReflectMessage, [...at, index]);
    if (field.fieldKind === "map" && field.mapKind === "message")
      for (const [key, item] of message.get(field))
        yield* filesIn(item as ReflectMessage, [...at, String(key)]);
  }
}

/** Replaces the name of a file by its content. Returns the path of the file. */
async function fill({ source, path, filename }: NamedFile, attaching: Attaching): Promise<string> {
  const { file, attached, hash } = attaching;
  if (!mayBePath(filename))
    throw new Fault({
      code: "bad-file-reference",
      message: `${fieldOf(path)} is not a path`,
      hint: "write the path of a file, or write the text into inline_string",
      path,
    });
  const target = join(dirname(file), filename);
  const fail = (message: string, hint?: string): Fault =>
    new Fault({
      code: "bad-file-reference",
      message: attaching.isPem ? message : `${fieldOf(path)}: ${quote(filename)} ${message}`,
      ...(hint !== undefined && { hint }),
      ...(attaching.isPem ? { file: target } : { path }),
    });
  try {
    const { stats, bytes } = await contentOf(target, attaching, fail);
    attached.push({
      path: target,
      stamp: stampOf(stats),
      changedMs: Math.max(stats.mtimeMs, stats.ctimeMs),
    });
    if (bytes.length === 0) throw fail("is empty");
    hash.update(`${filename}\0${bytes.length}\0`).update(bytes);
    setContent(source, bytes);
    return target;
  } catch (error) {
    if (error instanceof Fault) throw error;
    const { message, hint } = isGone(error)
      ? { message: "does not exist", hint: "write it, or correct the name" }
      : fileTrouble(error);
    attached.push({ path: target, stamp: "", changedMs: 0 });
    throw fail(message, hint);
  }
}

/** The longest name of one file and the longest path, in bytes. */
const longest = { name: 255, path: 1024 };

/** Returns true if a text may be the path of a file. A key that was written in its place must not be shown in the log. */
function mayBePath(text: string): boolean {
  return (
    !/\p{Cc}/u.test(text) &&
    !text.includes("-----BEGIN") &&
    Buffer.byteLength(text) <= longest.path &&
    text.split("/").every((name) => Buffer.byteLength(name) <= longest.name)
  );
}

async function contentOf(
  target: string,
  { context, patience, isPem, file }: Attaching,
  fail: (message: string, hint?: string) => Fault,
): Promise<{ readonly stats: Stats; readonly bytes: Uint8Array }> {
  const outside = "lies outside of the folder, and files outside are not read";
  const hint = "move it into the folder";
  if (!isInside(resolve(context.dir), resolve(target))) throw fail(outside, hint);
  const stats = await patience(target, () => stat(target));
  if (!isPem) {
    const [real, ...roots] = await patience(target, () =>
      Promise.all([target, context.dir, dirname(file)].map((one) => realpath(one))),
    );
    if (!roots.some((root) => isInside(root, real ?? ""))) throw fail(outside, hint);
  }
  if (!stats.isFile()) throw fail("is not a regular file");
  return { stats, bytes: await readBytes(target, stats.size, patience) };
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Stores bytes as `inline_string` if they are UTF-8, such as PEM, else as `inline_bytes`. */
function setContent(source: ReflectMessage, bytes: Uint8Array): void {
  const text = textOf(bytes);
  const name = text === undefined ? "inline_bytes" : "inline_string";
  const field = source.desc.fields.find((one) => one.name === name);
  if (field?.fieldKind === "scalar") source.set(field, text ?? bytes);
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Returns a path as text, such as `tls_certificate.private_key.filename`. */
function fieldOf(path: JsonPath): string {
  return path
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${shownKey(step)}`))
    .join("")
    .slice(1);
}

/** Returns an error as a problem. It has a line and a column if the file has only one resource and still exists. */
async function locatedProblem(
  error: unknown,
  isAlone: boolean,
  { file, patience }: Attaching,
): Promise<FolderProblem> {
  const path = error instanceof Fault ? error.details.path : undefined;
  if (path === undefined || !isAlone) return problemOf(error, file, "");
  try {
    const { size } = await patience(file, () => stat(file));
    const text = new TextDecoder().decode(await readBytes(file, size, patience));
    const details = (error as Fault).details;
    const at = hasPath(text, 0, ["resource"]) ? ["resource", ...path] : path;
    return problemOf(new Fault({ ...details, path: at }), file, text);
  } catch {
    return problemOf(error, file, "");
  }
}
