import { watch, type FSWatcher } from "node:fs";
import { dirname } from "node:path";
import type { Clock, Timer } from "@xdstp/core";

/** What {@link followFiles} needs. */
export interface FollowOptions<T> {
  readonly files: readonly string[];
  /** Reads them all. What it throws is why they cannot be used. */
  readonly read: () => Promise<T>;
  /** Equal for equal contents. */
  readonly fingerprint: (contents: T) => string;
  /** What is in use. */
  readonly first: T;
  readonly clock: Clock;
  /** Puts new contents to use; throws if they are broken. */
  readonly apply: (contents: T) => void;
  /** Called once for each change. `problem`: why it is not in use, with the error that `read` or `apply` threw; absent if it is in use. */
  readonly onChange: (problem: FollowProblem | undefined) => void;
}

/** Why the new contents of files are not in use. */
export interface FollowProblem {
  readonly text: string;
  readonly error: unknown;
}

/** Several files never change at one moment: a pause without events shows that all are there. */
const quietMs = 100;
/** For file systems that tell nothing. */
const pollMs = 60_000;

/**
 * Puts files to use as they change; broken ones never, so that what was before stays.
 * It watches the directories: files are renewed by renaming a file or a link, which ends the watch of a file.
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
    // A change while they were read may be in none of them yet.
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

/** A directory that cannot be watched is polled. */
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
