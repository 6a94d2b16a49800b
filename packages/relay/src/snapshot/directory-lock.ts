import { randomUUID } from "node:crypto";
import { closeSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { XdsError } from "@xdstp/core";

import { openPrivateFile } from "./private-files.ts";
import { readAt } from "./read-journal.ts";
import { SnapshotInUse } from "./snapshot-in-use.ts";

/** Keeps other processes out of a directory, by a file `lock` with the id of this one, and the time at which it was started. */
export interface DirectoryLock {
  /**
   * Takes the directory, or makes sure that it was not taken over since: a process that runs in another container cannot be seen from there.
   * Throws FAILED_PRECONDITION, with the cause {@link SnapshotInUse}, where another process has taken it, and the error of the system where no file can be written.
   */
  claim(): void;
  /** Lets go of it; of one that somebody else has taken over nothing is touched. */
  release(): void;
}

/** Directories of this process: a lock with its own id may be one of a process before it, as in a container. */
const own = new Set<string>();

/** A lock that nobody has taken yet. One whose process is gone is taken over. */
export function createDirectoryLock(dir: string): DirectoryLock {
  const file = join(dir, "lock");
  const place = realpathSync(dir);
  const mark = `${process.pid} ${randomUUID()} ${startOf(process.pid) ?? ""}\n`;
  let isTaken = false;
  const take = (): void => {
    if (own.has(place)) throw inUse(dir, file, process.pid);
    replaceDead(dir, file, mark);
    isTaken = true;
    own.add(place);
  };
  return {
    claim() {
      if (!isTaken) {
        take();
        return;
      }
      const found = markIn(file);
      if (found === undefined) writeFileSync(file, mark, { flag: "wx", mode: 0o600 });
      else if (found !== mark) throw inUse(dir, file, pidOf(found));
    },
    release() {
      if (!isTaken) return;
      isTaken = false;
      own.delete(place);
      if (markIn(file) === mark) rmSync(file, { force: true });
    },
  };
}

function replaceDead(dir: string, file: string, mark: string): void {
  for (let tries = 0; ; tries++) {
    try {
      writeFileSync(file, mark, { flag: "wx", mode: 0o600 });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST" || tries > 2) throw error;
    }
    const found = markIn(file);
    const pid = pidOf(found);
    if (pid !== undefined && pid !== process.pid && isAlive(pid, found?.trim().split(" ")[2]))
      throw inUse(dir, file, pid);
    rmSync(file, { force: true });
  }
}

function inUse(dir: string, file: string, pid: number | undefined): XdsError {
  const cause = new SnapshotInUse(dir, pid);
  return new XdsError(
    "FAILED_PRECONDITION",
    `${cause.message}; give each relay a directory of its own, end that process, or remove ${file} if it is not a relay`,
    { cause },
  );
}

/** Bytes of a lock that are read: a mark is shorter. */
const MARK_BYTES = 100;

/** undefined: there is no such file, or it cannot be read, or it is not a regular one. */
function markIn(file: string): string | undefined {
  try {
    const fd = openPrivateFile(file);
    if (fd === undefined) return undefined;
    try {
      return readAt(fd, 0, MARK_BYTES).toString();
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
}

function pidOf(mark = ""): number | undefined {
  const pid = Number(mark.split(" ", 1)[0]);
  return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined;
}

/** The id of a process that has ended may belong to another one now: then the times of their starts differ. */
function isAlive(pid: number, start: string | undefined): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  const now = startOf(pid);
  return now !== GONE && (start === undefined || now === undefined || start === now);
}

const GONE = "gone";

/** When the system started a process, as Linux counts it; {@link GONE} for a zombie, which has ended. undefined: the system does not tell. */
function startOf(pid: number): string | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    return undefined;
  }
  // The name of the program may hold blanks and brackets. Behind it stand the state, the third field, and the start, the 22nd.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return fields[0] === "Z" || fields[0] === "X" ? GONE : fields[19];
}
