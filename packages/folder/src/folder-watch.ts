import { watch as watchDirectory } from "node:fs";

import { type FileSystem, machineFiles } from "./file-system.ts";
import type { Patience } from "./pacing.ts";
import { isGone } from "./walk-folder.ts";

/** Watches the entries of one directory without those of its sub-directories. Throws an error if it cannot. `fs.watch` is such a function. */
export type WatchDirectory = (
  directory: string,
  listener: (event: string, name: string | null) => void,
) => {
  /** Calls the listener when the watch cannot continue. */
  on(event: "error", listener: (error: Error) => void): unknown;
  /** Ends the watch. */
  close(): void;
};

/** The number of directories that one check reads, so that a large folder costs no more than a small one. */
const checkedAtOnce = 256;

/** The options of {@link createFolderWatch}. */
export interface FolderWatchOptions {
  /** The folder. Every check includes it. */
  readonly root: string;
  /** Runs the operations of the file system. */
  readonly patience: Patience;
  /** Called when an entry of a watched directory has changed. */
  readonly onChange: () => void;
  /** Watches one directory. Default: `fs.watch`. */
  readonly watch?: WatchDirectory;
  /** Default: the file system of the machine. */
  readonly files?: FileSystem;
}

/**
 * Watches single directories. The recursive form of `fs.watch` watches every file on Linux and does not follow links.
 * The reader of the folder therefore adds each directory whenever it reads the folder, before it lists the directory, so that no change is missed.
 */
export interface FolderWatch {
  /** Watches all entries of a directory, or those with these names. Returns true if it was not watched before. A directory that does not exist is ignored. */
  readonly add: (directory: string, names?: ReadonlySet<string>) => Promise<boolean>;
  /** Ends the watches that were not added since the last sweep. Returns the reason why some directory cannot be watched, or `undefined`. */
  readonly sweep: () => unknown;
  /**
   * Finds directories that were replaced without a notification, as by a mount or an unmount.
   * One call checks the root and up to 256 other directories; further calls check the next ones. A replaced directory counts as a change, and is watched again when it is added.
   */
  readonly check: () => Promise<void>;
  /** Ends all watches. */
  readonly close: () => void;
}

/** One watched directory. */
interface Watched {
  readonly watcher: ReturnType<WatchDirectory>;
  /** The identity of the directory. A directory that was replaced has the same path and another identity, and its watch does not report changes any more. */
  readonly identity: string;
  /** `undefined`: all entries. */
  names: ReadonlySet<string> | undefined;
  /** true: it was added since the last sweep. */
  marked: boolean;
}

/** Creates a watch without directories. */
export function createFolderWatch({
  root,
  patience,
  onChange,
  watch = watchDirectory,
  files = machineFiles,
}: FolderWatchOptions): FolderWatch {
  const watched = new Map<string, Watched>();
  let failure: unknown;
  let isClosed = false;

  const drop = (directory: string): void => {
    watched.get(directory)?.watcher.close();
    watched.delete(directory);
  };
  const start = (directory: string, identity: string): Watched => {
    const watcher = watch(directory, (_, name) => {
      if (name === null || entry.names === undefined || entry.names.has(name)) onChange();
    });
    const entry: Watched = { watcher, identity, names: undefined, marked: false };
    watcher.on("error", () => {
      if (watched.get(directory) === entry) drop(directory);
      onChange();
    });
    return entry;
  };
  const renew = (directory: string, identity: string): Watched => {
    drop(directory);
    const entry = start(directory, identity);
    watched.set(directory, entry);
    return entry;
  };
  const check = createCheck({ root, patience, watched, files }, (directory) => {
    drop(directory);
    onChange();
  });
  return {
    async add(directory, names) {
      try {
        const identity = await identityOf(directory, patience, files);
        if (isClosed) return false;
        const known = watched.get(directory);
        const entry = known?.identity === identity ? known : renew(directory, identity);
        entry.names = entry.marked ? union(entry.names, names) : names;
        entry.marked = true;
        return entry !== known;
      } catch (error) {
        if (!isGone(error)) failure = error;
        return false;
      }
    },
    sweep() {
      for (const [directory, entry] of [...watched]) {
        if (entry.marked) entry.marked = false;
        else drop(directory);
      }
      const reason = failure;
      failure = undefined;
      return reason;
    },
    check,
    close() {
      isClosed = true;
      for (const directory of [...watched.keys()]) drop(directory);
    },
  };
}

/** Returns a function that checks the root and the next of the other directories, and reports those that were replaced. */
function createCheck(
  {
    root,
    patience,
    watched,
    files,
  }: Pick<FolderWatchOptions, "root" | "patience"> & {
    readonly files: FileSystem;
    readonly watched: ReadonlyMap<string, Watched>;
  },
  onReplaced: (directory: string) => void,
): () => Promise<void> {
  let unchecked: string[] = [];
  const checkOne = async (directory: string): Promise<void> => {
    const entry = watched.get(directory);
    if (entry === undefined) return;
    const identity = await identityOf(directory, patience, files).catch(() => undefined);
    if (identity !== entry.identity && watched.get(directory) === entry) onReplaced(directory);
  };
  return async () => {
    if (unchecked.length === 0) unchecked = [...watched.keys()];
    const directories = new Set([root, ...unchecked.splice(0, checkedAtOnce)]);
    await Promise.all([...directories].map(checkOne));
  };
}

function union(a: Watched["names"], b: Watched["names"]): Watched["names"] {
  return a === undefined || b === undefined ? undefined : new Set([...a, ...b]);
}

async function identityOf(
  directory: string,
  patience: Patience,
  files: FileSystem,
): Promise<string> {
  const { dev, ino, birthtimeNs } = await patience(directory, () => files.stat(directory));
  return `${dev}:${ino}:${birthtimeNs}`;
}
