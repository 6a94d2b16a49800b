import type { DatabaseSync } from "node:sqlite";
import { join } from "node:path";

import {
  checkPrivateFiles,
  createPrivateFile,
  identityOf,
  isSameFile,
  setAside,
  type FileIdentity,
} from "./private-files.ts";
import { isDamage, openSqlite, SqliteCode, sqliteCodeOf } from "./database.ts";

/**
 * The lock of a directory: an SQLite lock on the file `lock.db`. The system releases it when the
 * process ends for any reason.
 */
export interface SnapshotLock {
  readonly file: FileIdentity | undefined;
  release(): void;
}

/** Returns true if the lock file still has its path. The directory may have been replaced. */
export function isCurrentLock(dir: string, file: FileIdentity | undefined): boolean {
  return file !== undefined && isSameFile(identityOf(lockFileOf(dir)), file);
}

/**
 * Locks a directory for this process.
 * Throws {@link SnapshotInUse} if another relay has the lock, in this process or in another one,
 * and the error of SQLite or of the system if `lock.db` cannot be written.
 */
export function acquireLock(dir: string, now: number): SnapshotLock {
  const path = lockFileOf(dir);
  if (!checkPrivateFiles(path)) createPrivateFile(path);
  let database: DatabaseSync;
  try {
    database = openLocked(dir, path);
  } catch (error) {
    if (!isDamage(error)) throw error;
    setAside(path, "foreign", now);
    createPrivateFile(path);
    database = openLocked(dir, path);
  }
  return {
    file: identityOf(path),
    release: () => {
      database.close();
    },
  };
}

function openLocked(dir: string, path: string): DatabaseSync {
  const database = openSqlite(path, { readOnly: false });
  try {
    // An open write transaction is the lock. The process id is committed before it, so that others
    // can read it.
    database.exec(`
      PRAGMA synchronous = OFF;
      BEGIN IMMEDIATE;
      CREATE TABLE IF NOT EXISTS owner (pid INTEGER NOT NULL);
      DELETE FROM owner;
      INSERT INTO owner VALUES (${process.pid});
      COMMIT;
      BEGIN IMMEDIATE`);
    return database;
  } catch (error) {
    const owner = sqliteCodeOf(error) === SqliteCode.BUSY ? ownerIn(database) : undefined;
    database.close();
    throw sqliteCodeOf(error) === SqliteCode.BUSY ? new SnapshotInUse(dir, owner) : error;
  }
}

/** Returns `undefined` if the process id cannot be read now. */
function ownerIn(database: DatabaseSync): number | undefined {
  try {
    const pid = database.prepare("SELECT pid FROM owner").get()?.pid;
    return typeof pid === "number" ? pid : undefined;
  } catch {
    return undefined;
  }
}

function lockFileOf(dir: string): string {
  return join(dir, "lock.db");
}

/**
 * The `cause` of the error FAILED_PRECONDITION that is thrown if another process uses the directory
 * of a snapshot. That process may be shutting down, so a later attempt can succeed.
 */
export class SnapshotInUse extends Error {
  /** Always `SnapshotInUse`. */
  override readonly name: string = "SnapshotInUse";
  /** The directory as in the options. */
  readonly dir: string;
  /** The id of the other process. `undefined`: the lock could not be read. */
  readonly pid: number | undefined;

  constructor(dir: string, pid: number | undefined) {
    super(`the snapshot ${dir} is in use by process ${pid ?? "unknown"}`);
    this.dir = dir;
    this.pid = pid;
  }
}
