import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { XdsError } from "@xdstp/core";

/** Those of this process: a lock with its own id may be one of a process before it, as in a container. */
const own = new Set<string>();

/**
 * Keeps other processes out of a directory, by a file `lock` with the id of this one; one whose process is gone is taken over. Returns what lets go of it.
 * Throws FAILED_PRECONDITION where another process has it, and the error of the system where no file can be written.
 */
export function lockDirectory(dir: string): () => void {
  const file = join(dir, "lock");
  if (own.has(file)) throw inUse(dir, file, process.pid);
  for (let tries = 0; ; tries++) {
    try {
      writeFileSync(file, `${process.pid}\n`, { flag: "wx", mode: 0o600 });
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST" || tries > 2) throw error;
    }
    const pid = holderOf(file);
    if (pid !== undefined && pid !== process.pid && isAlive(pid)) throw inUse(dir, file, pid);
    rmSync(file, { force: true });
  }
  own.add(file);
  return () => {
    own.delete(file);
    rmSync(file, { force: true });
  };
}

function inUse(dir: string, file: string, pid: number): XdsError {
  return new XdsError("FAILED_PRECONDITION", `the snapshot ${dir} is in use by process ${pid}; give each relay a directory of its own, end that process, or remove ${file} if it is no relay`);
}

function holderOf(file: string): number | undefined {
  try {
    const pid = Number(readFileSync(file, "utf8"));
    return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
