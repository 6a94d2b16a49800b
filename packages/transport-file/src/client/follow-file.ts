import { createHash } from "node:crypto";
import { dirname, resolve } from "node:path";
import type { Registry } from "@bufbuild/protobuf";
import { type Clock, systemClock } from "@xdstp/core";
import {
  createDebounce,
  createFolderWatch,
  createPatience,
  type FileSystem,
  type FolderProblem,
  followLinks,
  isGone,
  machineFiles,
  type Patience,
  readBytes,
  readResponseFile,
  repeatEvery,
  type ResponseFile,
  type WatchDirectory,
} from "@xdstp/folder/files";

/** A burst of changes ends when nothing has changed for `quietMs` milliseconds, but at most `maxMs` milliseconds after its first change. */
const burst = { quietMs: 100, maxMs: 2_000 };
/** The interval in milliseconds in which the file is compared with the one that was read. It finds changes of which the system sends no notification, such as mounts, network file systems, and directories that do not exist yet. */
const checkMs = 2_000;

/** The result of reading a file. */
export type FileState =
  | {
      readonly kind: "response";
      readonly file: ResponseFile;
      /** A hash of the bytes of the file. */
      readonly digest: string;
    }
  | { readonly kind: "invalid"; readonly problem: FolderProblem }
  | { readonly kind: "missing" };

/** Options of {@link followFile}. */
export interface FollowFileOptions {
  readonly path: string;
  /** A directory in which each change reads the file again, in addition to those of its path. */
  readonly watchedDirectory?: string | undefined;
  readonly registry: Registry;
  /** The clock of pauses. The time limit of file operations uses the clock of the machine. */
  readonly clock: Clock;
  readonly watch?: WatchDirectory | undefined;
  /** Default: the file system of the machine. */
  readonly files?: FileSystem | undefined;
  /** Called after each reading whose result differs from the one before. */
  readonly onState: (state: FileState) => void;
}

/**
 * Reads a file, and again whenever it may have changed, until the signal aborts (C-FILE-2).
 * The directories of all symbolic links in the path are watched, so the swap of a directory, as Kubernetes does it, is a change.
 */
export async function followFile(options: FollowFileOptions, signal: AbortSignal): Promise<void> {
  const { path, watchedDirectory, clock, onState, files = machineFiles } = options;
  const patience = createPatience(systemClock);
  const changes = createDebounce({ clock, ...burst });
  const watch = createFolderWatch({
    root: dirname(resolve(path)),
    patience,
    onChange: changes.touch,
    files,
    ...(options.watch && { watch: options.watch }),
  });
  const stamp = async (): Promise<string | undefined> => stampOf(path, patience, files);
  let known: string | undefined;
  try {
    while (!signal.aborted) {
      if (watchedDirectory !== undefined) await watch.add(resolve(watchedDirectory));
      for (const [directory, names] of await followLinks([path], files))
        await watch.add(directory, names);
      const before = await stamp();
      const content = await readContent(path, patience, files);
      const after = await stamp();
      watch.sweep();
      if (isOver(signal)) return;
      // Parsing is not part of the comparison: a large file may be replaced more often than it is parsed.
      if (before === after) {
        const state = stateOf(content, options);
        const key = keyOf(state);
        if (key !== known) onState(state);
        known = key;
      } else changes.touch();
      const timer = repeatEvery(clock, checkMs, async () => {
        if ((await stamp()) !== after) changes.touch();
      });
      await changes.next(signal);
      timer.cancel();
    }
  } finally {
    changes.cancel();
    watch.close();
  }
}

/** A function, because a loop reads the signal after each pause. */
function isOver(signal: AbortSignal): boolean {
  return signal.aborted;
}

/** The bytes of a file, or the reason why there are none. */
type FileContent = Uint8Array | Exclude<FileState, { readonly kind: "response" }>;

async function readContent(
  path: string,
  patience: Patience,
  files: FileSystem,
): Promise<FileContent> {
  try {
    const stats = await patience(path, () => files.stat(path));
    if (!stats.isFile()) throw new Error("is not a file; write the path of a file");
    return await readBytes(path, Number(stats.size), patience, files);
  } catch (error) {
    if (isGone(error)) return { kind: "missing" };
    const message = error instanceof Error ? error.message : String(error);
    return { kind: "invalid", problem: { file: path, code: "unreadable-file", message } };
  }
}

function stateOf(
  content: FileContent,
  { path, registry }: Pick<FollowFileOptions, "path" | "registry">,
): FileState {
  if (!(content instanceof Uint8Array)) return content;
  const read = readResponseFile(path, content, registry);
  if ("problem" in read) return { kind: "invalid", problem: read.problem };
  const digest = createHash("sha256").update(content).digest("base64");
  return { kind: "response", file: read, digest };
}

/** Returns a text that differs after each change of a file: another file at its path, another size, another time. `undefined`: the file does not exist. */
async function stampOf(
  path: string,
  patience: Patience,
  files: FileSystem,
): Promise<string | undefined> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await patience(path, () => files.stat(path));
    return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
  } catch (error) {
    return isGone(error) ? undefined : String(error);
  }
}

/** Returns a text that is equal for states that a client cannot tell apart. */
function keyOf(state: FileState): string {
  return state.kind === "response" ? state.digest : JSON.stringify(state);
}
