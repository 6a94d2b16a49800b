import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const pollMs = 200;

/**
 * Runs `work` while no other process works on the same checkout. The lock of a process that has died is taken over.
 * @template T
 * @param {string} root
 * @param {() => T} work
 * @returns {T}
 */
export function withLock(root, work) {
  const folder = lockFolder(root);
  acquire(folder);
  try {
    return work();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The folder whose existence is the lock; in it the pid of its holder. */
export function lockFolder(root) {
  return join(
    tmpdir(),
    `xdstp-install-${createHash("sha256").update(root).digest("hex").slice(0, 16)}`,
  );
}

function acquire(folder) {
  for (let waited = false; ; waited = true) {
    if (tryAcquire(folder)) return;
    if (!waited) console.error("Waiting for another install of this checkout ...");
    if (isAbandoned(folder)) rmSync(folder, { recursive: true, force: true });
    else sleep(pollMs);
  }
}

function tryAcquire(folder) {
  try {
    mkdirSync(folder);
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
  writeFileSync(join(folder, "pid"), String(process.pid));
  return true;
}

// The holder writes its pid right after it has made the folder: a folder without one is new, or its holder died in between.
function isAbandoned(folder) {
  const pid = readPid(folder) ?? (sleep(1_000), readPid(folder));
  if (pid === undefined) return true;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error.code === "ESRCH";
  }
}

function readPid(folder) {
  try {
    return Number(readFileSync(join(folder, "pid"), "utf8")) || undefined;
  } catch {
    return undefined;
  }
}

function sleep(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
