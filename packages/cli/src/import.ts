import { readFile, stat } from "node:fs/promises";
import {
  formatProblem,
  importBootstrap,
  type ImportConflict,
  importConfigDump,
  importGatewayApi,
  type Imported,
  type ObjectFile,
  type UnmovedResource,
  writeImport,
} from "@xdstp/folder";
import { shortNameOf } from "@xdstp/resource-types";
import { CliError, unreadable } from "./cli-error.ts";
import type { CliIo, StopSignal } from "./cli-io.ts";
import { adminAt, type ConnectionOptions, envoyConnection } from "./envoy-bootstrap.ts";
import { type Endpoint, formatEndpoint } from "./endpoint.ts";
import { jsonText } from "./json-text.ts";
import { loadRegistry } from "./load-registry.ts";
import { counted, escapeText } from "./short-text.ts";
import { signalCodes } from "./signal-codes.ts";

/** The kinds of input of `xdstp import`. */
export type ImportKind = "envoy" | "config-dump" | "gateway-api";

/** The options of `xdstp import`. */
export interface ImportOptions {
  readonly kind: ImportKind;
  /** The file, or the URL of an admin page. For `gateway-api`, these are all files. */
  readonly from: readonly string[];
  readonly dir: string;
  /** The path of the bootstrap that is written. */
  readonly bootstrap: string;
  readonly connection: ConnectionOptions;
  /** The address of the admin page. `undefined`: that of the imported configuration. */
  readonly admin: Endpoint | undefined;
  /** The paths of descriptor sets. */
  readonly descriptors: readonly string[];
  readonly force: boolean;
  readonly dryRun: boolean;
  readonly json: boolean;
  readonly timeoutMs: number;
}

/** Imports a configuration and prints the next steps. Returns the exit code. */
export async function importInto(options: ImportOptions, io: CliIo): Promise<number> {
  const imported = await read(options);
  if (imported.problems.length > 0) {
    report(imported, options, io);
    return 1;
  }
  const signal = await write(imported, options, io);
  if (signal !== undefined) {
    io.stderr.write(`stopped by ${signal}: nothing is written\n`);
    return signalCodes[signal];
  }
  report(imported, options, io);
  return 0;
}

async function read({
  kind,
  from,
  descriptors,
  connection: way,
  admin,
  timeoutMs,
}: ImportOptions): Promise<Imported> {
  const registry = await loadRegistry(descriptors);
  const connection = {
    ...envoyConnection(way),
    ...(admin !== undefined && { admin: adminAt(admin) }),
  };
  if (kind === "gateway-api") {
    const files: ObjectFile[] = [];
    // One after the other, so that of several unreadable files the first is reported.
    for (const file of from)
      files.push({ file, text: await textOf(file, "give files with objects") });
    return importGatewayApi({ files, registry, connection });
  }
  const [file = ""] = from;
  if (kind === "envoy") return importBootstrap({ file, registry, connection });
  const text = /^https?:/i.test(file) ? await fetchDump(file, timeoutMs) : await dumpIn(file);
  return importConfigDump({ text, file, registry, connection });
}

/** The largest input, in bytes. The dump of a large Envoy has tens of megabytes. */
const maxBytes = 256 * 1024 * 1024;
const tooLarge = `is larger than ${maxBytes / 1024 / 1024} MiB, the most that is read`;

function dumpIn(file: string): Promise<string> {
  return textOf(
    file,
    "give a file with the answer of /config_dump?include_eds, or the URL of an admin page",
  );
}

async function textOf(file: string, wayOut: string): Promise<string> {
  try {
    if ((await stat(file)).size > maxBytes) throw new CliError(1, `${file}: ${tooLarge}`);
    return await readFile(file, "utf8");
  } catch (error) {
    throw error instanceof CliError ? error : unreadable(error, file, wayOut);
  }
}

/** Reads a dump from the URL of an admin page or of the dump itself. */
async function fetchDump(from: string, timeoutMs: number): Promise<string> {
  // The text is not shown if it contains `@`, since it may contain a password.
  if (!URL.canParse(from))
    throw new CliError(
      2,
      from.includes("@")
        ? "the URL of the dump cannot be read; give one like http://127.0.0.1:9901, without a user and a password"
        : `${JSON.stringify(from)} is not a URL; give one like http://127.0.0.1:9901`,
    );
  const url = new URL(from);
  if (url.username !== "" || url.password !== "")
    throw new CliError(
      2,
      `give the URL of ${url.host} without a user and a password: an admin page has none. Where a proxy before it needs them, save the answer of /config_dump?include_eds with another program, and give the file`,
    );
  if (url.pathname === "/") url.pathname = "/config_dump";
  if (url.pathname === "/config_dump" && url.search === "") url.search = "?include_eds";
  const { href } = url;
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
    if (!response.ok)
      throw new CliError(
        1,
        `${href}: answers with ${response.status}; give the URL of the admin page of an Envoy`,
      );
    return await limitedText(response, href);
  } catch (error) {
    if (error instanceof CliError) throw error;
    const isLate = error instanceof DOMException && error.name === "TimeoutError";
    const reason = isLate ? `no answer within ${timeoutMs / 1000} s` : causeOf(error);
    throw new CliError(1, `${href}: ${reason}; is it the admin page of an Envoy?`, {
      cause: error,
    });
  }
}

function causeOf(error: unknown): string {
  const { cause, message } = error as Error;
  return cause instanceof Error ? cause.message : message;
}

async function limitedText(response: Response, href: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > maxBytes) throw new CliError(1, `${href}: ${tooLarge}`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Writes all files or none. Returns the signal that stopped it, or `undefined` when everything is written. */
async function write(
  imported: Imported,
  { dir, bootstrap, force, descriptors, dryRun }: ImportOptions,
  io: CliIo,
): Promise<StopSignal | undefined> {
  const registry = await loadRegistry(descriptors);
  const stop = new AbortController();
  let stoppedBy: StopSignal | undefined;
  const unlisten = io.onSignal((signal) => {
    if (signal === "SIGPIPE") return;
    stoppedBy = signal;
    stop.abort();
  });
  const onLeftover = (path: string): void => {
    io.stderr.write(
      escapeText(
        `${path} is from an import that was stopped, and may hold secrets; remove it if no other import runs`,
      ) + "\n",
    );
  };
  try {
    const target = { dir, bootstrap, force, registry, dryRun, signal: stop.signal, onLeftover };
    const conflict = await writeImport(imported, target);
    if (conflict !== undefined) throw new CliError(1, conflictText(conflict));
    return undefined;
  } catch (error) {
    if (stop.signal.aborted && error === stop.signal.reason) return stoppedBy;
    if (error instanceof CliError) throw error;
    throw new CliError(1, `nothing is written: ${writeTrouble(error)}`, { cause: error });
  } finally {
    unlisten();
  }
}

/** Explains an error of the file system, and what to do. */
function writeTrouble(error: unknown): string {
  const { code = "", path = "the folder", message } = error as NodeJS.ErrnoException;
  const trouble = writeTroubles[code];
  return trouble === undefined ? message : `${path} ${trouble} (${code})`;
}

const noSpace = "cannot be written, because the disk is full; make room, or give another DIR";
const noRight = "may not be written by this user; give the right to, or give another DIR";
const meanwhile = "was made by another program meanwhile; look at it, and import again";
const writeTroubles: Readonly<Record<string, string>> = {
  ENOSPC: noSpace,
  EDQUOT: noSpace,
  EACCES: noRight,
  EPERM: noRight,
  EROFS: "is on a file system that is read-only; give another DIR",
  EXDEV:
    "is on another file system than DIR, so it cannot be replaced in one step; give another DIR",
  EEXIST: meanwhile,
  ENOTEMPTY: meanwhile,
  ENOTDIR: "has a file where a folder has to be; remove the file, or give another path",
  EISDIR: "is a folder, and a file has to be there; remove it, or give another path",
  ELOOP: "is a symbolic link that leads back to itself; remove it, or give another path",
  ENAMETOOLONG: "is too long a path; give a DIR with a shorter one",
  EBUSY: "is in use, by a mount perhaps; give another DIR",
};

function conflictText(conflict: ImportConflict): string {
  switch (conflict.kind) {
    case "not-empty":
      return `${conflict.path} is not empty, so nothing is written; give another folder, or --force to add the files and replace those of the same names`;
    case "exists":
      return `${conflict.path} exists, so nothing is written; give another file with --bootstrap, or --force to replace it`;
    case "inside":
      return `${conflict.path} is inside of DIR, where serve would read it as a resource, so nothing is written; name a file elsewhere with --bootstrap`;
    case "not-a-folder":
      return `${conflict.path} is a file, and a folder has to be there, so nothing is written; remove it, or give another DIR`;
    case "broken-link":
      return `${conflict.path} is a symbolic link to ${conflict.to}, which does not exist, so nothing is written; make that folder, or give another DIR`;
    case "not-a-file":
      return `${conflict.path} is a folder, and a file has to be there, so nothing is written; remove it, or give another path`;
    case "invalid":
      return `nothing is written, since it could not be served:\n${conflict.problems.map(formatProblem).join("\n")}`;
  }
}

function report(imported: Imported, options: ImportOptions, { stdout, stderr }: CliIo): void {
  const { problems, warnings } = imported;
  if (options.json) {
    stdout.write(`${jsonText(jsonOf(imported, options), { indent: 2 })}\n`);
    return;
  }
  const lines = [
    ...problems.map((one) => formatProblem({ ...one, message: `error: ${one.message}` })),
    ...warnings.map((one) => formatProblem({ ...one, message: `warning: ${one.message}` })),
  ];
  if (lines.length > 0) stderr.write(`${lines.join("\n")}\n`);
  if (problems.length > 0) {
    stderr.write(`nothing is written: ${counted(problems.length, "error")}\n`);
    return;
  }
  if (options.dryRun) stdout.write(shownFiles(imported, options));
  stdout.write(`${summary(imported, options).join("\n")}\n`);
}

function shownFiles({ files, bootstrap }: Imported, options: ImportOptions): string {
  const all = [
    ...files.map((file) => ({ ...file, path: `${options.dir}/${file.path}` })),
    { ...bootstrap, path: options.bootstrap },
  ];
  return all
    .map(({ path, text, isSecret }) =>
      isSecret
        ? `# ${path}: ${counted(text.length, "character")}, not shown: it holds secrets\n`
        : `# ${path}\n${text}`,
    )
    .join("\n");
}

function summary(imported: Imported, options: ImportOptions): readonly string[] {
  const { files, kept, missing, notes } = imported;
  const { dir, bootstrap, dryRun, connection } = options;
  const types = Map.groupBy(files, ({ typeUrl }) => shortNameOf(typeUrl) ?? typeUrl);
  const counts = Array.from(types, ([type, { length }]) => counted(length, type.replace(/s$/, "")));
  return [
    `${dryRun ? "Would write" : "Wrote"} ${dir}: ${counts.join(", ") || "nothing to serve"}`,
    `${dryRun ? "Would write" : "Wrote"} ${bootstrap}: the bootstrap of Envoy`,
    ...kept.map((one) => `Stays in the bootstrap: ${unmoved(one)}`),
    ...missing.map((one) => `Not imported: ${unmoved(one)}`),
    ...notes.map(escapeText),
    "",
    "Next:",
    `  xdstp serve ${shellWord(dir)} --listen ${formatEndpoint(connection.server)}`,
    `  envoy -c ${shellWord(bootstrap)}`,
  ];
}

function unmoved({ typeUrl, name, reason }: UnmovedResource): string {
  const noun = (shortNameOf(typeUrl) ?? typeUrl).replace(/s$/, "");
  return escapeText(`${noun} ${JSON.stringify(name)}: ${reason}`);
}

/** Returns a path with quotes if a shell needs them. */
function shellWord(path: string): string {
  return /^[\w./@%+=:-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

function jsonOf(imported: Imported, options: ImportOptions): object {
  const { files, kept, missing, notes, problems, warnings } = imported;
  return {
    dir: options.dir,
    bootstrap: options.bootstrap,
    written: !options.dryRun && problems.length === 0,
    files: files.map(({ path, typeUrl, name, isSecret, text }) => ({
      path,
      typeUrl,
      name,
      isSecret,
      ...(options.dryRun && !isSecret && { text }),
    })),
    kept,
    missing,
    notes,
    problems,
    warnings,
  };
}
