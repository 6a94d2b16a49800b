import { join, resolve } from "node:path";
import type { Registry } from "@bufbuild/protobuf";
import {
  type Clock,
  type ResourceSource,
  type StoredResource,
  systemClock,
  type Timer,
  type Topic,
  type Watcher,
} from "@xdstp/core";
import { readBytes } from "@xdstp/folder/files";

import {
  type ExportState,
  type FilePlan,
  layouts,
  planFiles,
  type PlannedFile,
} from "./planned-files.ts";
import { replaceFile } from "./replace-file.ts";
import { type WritableFiles, writableMachineFiles } from "./writable-files.ts";

/** Options of {@link createFileExport}. */
export interface FileExportOptions {
  /** The resources to write: all listeners and clusters, and the resources to which these refer by name. */
  readonly source: ResourceSource;
  /** The directory. It is created if it does not exist. Its folders `eds`, `rds`, `sds` and `ecds` belong to the export: files `*.json` in them to which nothing refers are removed. */
  readonly dir: string;
  /** The path of `dir` for the reader of the files, if that is another one, as in a container. Default: `dir` as an absolute path. */
  readonly readDir?: string;
  /** The types of the resources. */
  readonly registry: Registry;
  /** Called after each state that was written. It must not throw. */
  readonly onWritten?: (state: ExportState) => void;
  /** Called when a state cannot be written; the files are those of the state before, or partly of the new one. It is tried again after 1 s. It must not throw. */
  readonly onError?: (error: unknown) => void;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** The file system, for tests and for files that are not on a disk. Default: that of the machine. */
  readonly files?: WritableFiles;
}

/** An export that follows its source. */
export interface FileExport {
  /** Resolves with the first state that was written. Never rejects: `onError` has the errors. */
  readonly first: Promise<ExportState>;
  /** Ends the export after the files that are being written. The files stay. */
  close(): Promise<void>;
}

/**
 * Writes the resources of a source as files for Envoy, and again after each change, until `close`: `lds.json`, `cds.json`, and one file for each name in `rds/`, `eds/`, `sds/` and `ecds/`. ConfigSources `ads` and `self` next to a name become `path_config_source`.
 *
 * Nothing is written before the source has answered everything that is referred to, so a source that cannot be reached leaves the files as they are. Each file is replaced as a whole (B-FILE-6), those that others refer to first; files that nothing refers to any more are removed last. A file whose content is equal is not written.
 */
export function createFileExport(options: FileExportOptions): FileExport {
  return new Exporting(options);
}

/** Milliseconds until a state is tried again that could not be written. */
const retryMs = 1_000;

class Exporting implements FileExport {
  readonly first: Promise<ExportState>;
  readonly #options: FileExportOptions;
  readonly #topics = new Map<string, Topic>();
  readonly #watcher: Watcher;
  #resolveFirst: (state: ExportState) => void = () => undefined;
  /** The content of each file that this export has written, by path. */
  #written: Map<string, string> | undefined;
  #isDue = false;
  #isClosed = false;
  #isRunning = false;
  /** The last run. */
  #running: Promise<void> | undefined;
  #retry: Timer | undefined;

  constructor(options: FileExportOptions) {
    this.#options = options;
    this.first = new Promise((resolve) => {
      this.#resolveFirst = resolve;
    });
    this.#watcher = {
      wake: () => {
        this.#schedule();
      },
    };
    this.#schedule();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#retry?.cancel();
    await this.#running;
    for (const topic of this.#topics.values()) topic.unwatch(this.#watcher);
    this.#topics.clear();
  }

  #schedule(): void {
    this.#isDue = true;
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#running = this.#run();
  }

  /** Writes until nothing has changed meanwhile. It begins in a later turn, so that changes of one moment are one state. */
  async #run(): Promise<void> {
    while (this.#isDue && !this.#isClosed) {
      await nextTurn();
      this.#isDue = false;
      try {
        const plan = this.#plan();
        if (plan === undefined) continue;
        const state = await this.#write(plan);
        this.#resolveFirst(state);
        this.#options.onWritten?.(state);
      } catch (error) {
        this.#options.onError?.(error);
        this.#retryLater();
      }
    }
    this.#isRunning = false;
  }

  #retryLater(): void {
    const { clock = systemClock } = this.#options;
    this.#retry?.cancel();
    this.#retry = clock.after(retryMs, () => {
      this.#schedule();
    });
  }

  /** Returns the files of the current state. `undefined`: something is not known yet. */
  #plan(): FilePlan | undefined {
    const { source, registry, dir, readDir = resolve(dir) } = this.#options;
    const pending: string[] = [];
    const used = new Set<string>();
    const read = (typeUrl: string, name: string): readonly StoredResource[] => {
      const key = `${typeUrl} ${name}`;
      used.add(key);
      const topic = this.#topics.get(key) ?? this.#follow(source, typeUrl, name);
      if (!topic.settled) pending.push(key);
      return topic.members().flatMap(({ resource }) => (resource === undefined ? [] : [resource]));
    };
    const plan = planFiles(
      {
        all: (typeUrl) => read(typeUrl, "*"),
        one: ({ typeUrl, name }) => read(typeUrl, name)[0],
      },
      { readDir, registry },
    );
    if (pending.length > 0) return undefined;
    this.#drop(used);
    return plan;
  }

  #follow(source: ResourceSource, typeUrl: string, name: string): Topic {
    const topic = source.topic(typeUrl, { name });
    topic.watch(this.#watcher);
    this.#topics.set(`${typeUrl} ${name}`, topic);
    return topic;
  }

  #drop(used: ReadonlySet<string>): void {
    for (const [key, topic] of this.#topics) {
      if (used.has(key)) continue;
      topic.unwatch(this.#watcher);
      this.#topics.delete(key);
    }
  }

  async #write({ files, notes }: FilePlan): Promise<ExportState> {
    const { dir, files: system = writableMachineFiles } = this.#options;
    const written = (this.#written ??= await existingFiles(dir, system));
    let changed = 0;
    for (const { path, text, mode } of files) {
      if (written.get(path) === text) continue;
      await replaceFile(join(dir, path), text, mode, system);
      written.set(path, text);
      changed += 1;
    }
    const present = new Set(files.map(({ path }) => path));
    for (const path of [...written.keys()].filter((one) => !present.has(one))) {
      await system.rm(join(dir, path));
      written.delete(path);
      changed += 1;
    }
    return { files: files.map(asExported), notes, changed };
  }
}

function asExported({ path, typeUrl, resources }: PlannedFile): ExportState["files"][number] {
  return { path, typeUrl, resources };
}

/** Returns the content of the files of an earlier export, by path. */
async function existingFiles(dir: string, system: WritableFiles): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const { form, name } of layouts) {
    const entries = form === "file" ? [] : await system.readdir(join(dir, name)).catch(() => []);
    const names = entries
      .map((entry) => entry.name)
      .filter((one) => one.endsWith(".json") && !one.startsWith("."));
    const paths = form === "file" ? [`${name}.json`] : names.map((one) => `${name}/${one}`);
    for (const path of paths) {
      const text = await textOf(join(dir, path), system);
      if (text !== undefined) found.set(path, text);
    }
  }
  return found;
}

/** Returns undefined for a file that cannot be read. */
async function textOf(path: string, system: WritableFiles): Promise<string | undefined> {
  try {
    return new TextDecoder().decode(await readBytes(path, 0, (_, run) => run(), system));
  } catch {
    return undefined;
  }
}

async function nextTurn(): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
}
