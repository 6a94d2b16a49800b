import { watch, type FSWatcher } from "node:fs";
import { dirname } from "node:path";
import type { Clock, Timer } from "@xdstp/core";

/** The options of {@link followFiles}. */
export interface FollowOptions<T> {
  readonly files: readonly string[];
  /** Reads all files. An error that it throws is the reason why the files cannot be used. */
  readonly read: () => Promise<T>;
  /** Returns equal texts for equal contents. */
  readonly fingerprint: (contents: T) => string;
  /** The contents that are in use. */
  readonly first: T;
  readonly clock: Clock;
  /** Applies new contents. Throws an error if they are invalid. */
  readonly apply: (contents: T) => void;
  /** Called once for each change. `problem`: the error of `read` or `apply`, because of which the new contents are not in use. `undefined`: they are in use. */
  readonly onChange: (problem: FollowProblem | undefined) => void;
}

/** The reason why the new contents of files are not in use. */
export interface FollowProblem {
  readonly text: string;
  readonly error: unknown;
}

/** Milliseconds without events before the files are read. Several files are never replaced at the same moment. */
const quietMs = 100;
/** Milliseconds between two readings on file systems that do not send events. */
const pollMs = 60_000;

/**
 * Applies the contents of files whenever they change. Invalid contents are not applied, and those in use stay.
 * It watches the directories and not the files: files are usually replaced by renaming a file or a link, which ends the watch of a file.
 */
export function followFiles<T>({
  files,
  read,
  fingerprint,
  first,
  clock,
  apply,
  onChange,
}: FollowOptions<T>): { close(): void } {
  let seen = fingerprint(first);
  let timer: Timer | undefined;
  let open = true;
  let isReading = false;
  let changes = 0;
  const readAfter = (ms: number): void => {
    timer?.cancel();
    timer = open
      ? clock.after(ms, () => {
          void look();
        })
      : undefined;
  };
  const look = async (): Promise<void> => {
    isReading = true;
    const before = changes;
    const reading = await readingOf(read);
    const now = "problem" in reading ? reading.problem.text : fingerprint(reading.contents);
    if (open && now !== seen) {
      seen = now;
      onChange("problem" in reading ? reading.problem : problemWith(reading.contents, apply));
    }
    isReading = false;
    // A file that changed while the others were read may not be part of these contents.
    readAfter(changes === before ? pollMs : quietMs);
  };
  const watchers = watchAll(files, () => {
    changes += 1;
    if (!isReading) readAfter(quietMs);
  });
  readAfter(quietMs);
  return {
    close() {
      open = false;
      timer?.cancel();
      for (const watcher of watchers) watcher.close();
    },
  };
}

async function readingOf<T>(
  read: () => Promise<T>,
): Promise<{ readonly contents: T } | { readonly problem: FollowProblem }> {
  try {
    return { contents: await read() };
  } catch (error) {
    return { problem: problemOf(error) };
  }
}

function problemWith<T>(contents: T, apply: (contents: T) => void): FollowProblem | undefined {
  try {
    apply(contents);
    return undefined;
  } catch (error) {
    return problemOf(error);
  }
}

function problemOf(error: unknown): FollowProblem {
  return { text: error instanceof Error ? error.message : String(error), error };
}

/** Watches the directories of the files. A directory that cannot be watched is only polled. */
function watchAll(files: readonly string[], onEvent: () => void): readonly FSWatcher[] {
  return [...new Set(files.map((file) => dirname(file)))].flatMap((directory) => {
    try {
      const watcher = watch(directory, onEvent);
      watcher.on("error", () => {
        watcher.close();
      });
      return [watcher];
    } catch {
      return [];
    }
  });
}
