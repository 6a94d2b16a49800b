import type { DatabaseSync, StatementSync } from "node:sqlite";
import { join } from "node:path";

import { openToWrite } from "./database.ts";
import {
  identityOf,
  isSameFile,
  makePrivateDirectory,
  setAside,
  type FileIdentity,
} from "./private-files.ts";
import type { RowChange } from "./record.ts";
import { acquireLock, isCurrentLock, type SnapshotLock } from "./snapshot-lock.ts";

/** A part of a transaction. */
export interface Chunk {
  readonly changes: readonly RowChange[];
  /** Absent: the transaction has begun already. */
  readonly begin: Beginning | undefined;
  /** True if the transaction is committed after this chunk. */
  readonly isLast: boolean;
  /** True if the write-ahead log is emptied after the commit, so that it has no older data. */
  readonly emptiesLog: boolean;
}

/** The start of a transaction. */
export interface Beginning {
  /**
   * The file that was read or written last. `undefined`: there is none; a new file is created, and
   * another file at its path is renamed.
   */
  readonly file: FileIdentity | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The result of a chunk. */
export interface Written {
  readonly file: FileIdentity | undefined;
  /** The new path of the file that had the path before. */
  readonly aside: string | undefined;
}

/** Thrown if another file, or none, has the path of the file that was read or written last. */
export class SnapshotMoved extends Error {
  override readonly name: string = "SnapshotMoved";
}

/** The path of the database in a directory. */
export function databaseOf(dir: string): string {
  return join(dir, "snapshot.db");
}

/** Writes the database of a directory. The calls block. */
export class DatabaseWriter {
  readonly #dir: string;
  readonly #path: string;
  /**
   * The lock file of the process that has opened the snapshot. Replaced if the directory was
   * replaced.
   */
  #lockFile: FileIdentity | undefined;
  #lock: SnapshotLock | undefined;
  #database: DatabaseSync | undefined;
  #statements: Readonly<Record<RowChange["change"], StatementSync>> | undefined;
  #file: FileIdentity | undefined;
  /** True after a failure: the connection may not be able to write any more. */
  #isDoubtful = false;

  readonly #openFile: (path: string) => DatabaseSync;

  /** @param open - Used by tests, to open a database with a limit */
  constructor(
    dir: string,
    lockFile: FileIdentity | undefined,
    open: typeof openToWrite = openToWrite,
  ) {
    this.#openFile = open;
    this.#dir = dir;
    this.#path = databaseOf(dir);
    this.#lockFile = lockFile;
  }

  /**
   * Writes a chunk. Throws {@link SnapshotMoved}, `SnapshotInUse`, and the errors of
   * {@link openToWrite}; then nothing of the transaction is written.
   */
  write({ begin, changes, isLast, emptiesLog }: Chunk): Written {
    try {
      const aside = begin && this.#begin(begin);
      for (const change of changes) this.#apply(change);
      if (isLast) this.#database?.exec("COMMIT");
      if (emptiesLog) this.#emptyLog();
      return { file: this.#file, aside };
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  close(): void {
    this.#rollBack();
    this.#database?.close();
    this.#database = undefined;
    this.#lock?.release();
    this.#lock = undefined;
  }

  #begin({ file, now }: Beginning): string | undefined {
    let aside: string | undefined;
    if (file !== undefined && !isSameFile(identityOf(this.#path), file))
      throw new SnapshotMoved(
        identityOf(this.#path) === undefined
          ? `${this.#path} does not exist any more`
          : `${this.#path} is another file than before`,
      );
    if (file === undefined) makePrivateDirectory(this.#dir);
    this.#checkLock(now);
    if (file === undefined && identityOf(this.#path) !== undefined)
      aside = setAside(this.#path, "replaced", now);
    if (file === undefined || this.#isDoubtful || !isSameFile(this.#file, file)) this.#open();
    this.#database?.exec("BEGIN IMMEDIATE");
    return aside;
  }

  #open(): void {
    // SQLite removes the log of a database by its path when it closes it. So the old connection is
    // closed after another file has been renamed.
    this.#database?.close();
    this.#database = undefined;
    this.#file = undefined;
    const database = this.#openFile(this.#path);
    this.#database = database;
    this.#statements = {
      put: database.prepare("INSERT OR REPLACE INTO entry VALUES (?, ?, ?, ?, ?)"),
      facts: database.prepare("UPDATE entry SET kind = ?, facts = ?, sum = ? WHERE id = ?"),
      delete: database.prepare("DELETE FROM entry WHERE id = ?"),
    };
    this.#file = identityOf(this.#path);
    this.#isDoubtful = false;
  }

  #checkLock(now: number): void {
    if (isCurrentLock(this.#dir, this.#lockFile)) return;
    this.#lock?.release();
    this.#lock = undefined;
    this.#lock = acquireLock(this.#dir, now);
    this.#lockFile = this.#lock.file;
  }

  #apply(change: RowChange): void {
    if (change.change === "delete") {
      this.#statements?.delete.run(change.id);
      return;
    }
    if (change.change === "facts") {
      const { id, kind, facts, sum } = change.row;
      this.#statements?.facts.run(kind, facts, sum, id);
      return;
    }
    const { id, kind, facts, sum, body } = change.row;
    this.#statements?.put.run(id, kind, facts, sum, body);
  }

  #emptyLog(): void {
    const result = this.#database?.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
    if (result?.busy !== 0) throw new Error("the write-ahead log is being read");
  }

  #rollBack(): void {
    this.#isDoubtful = true;
    try {
      this.#database?.exec("ROLLBACK");
    } catch {
      // SQLite has rolled back already, or there was no transaction.
    }
  }
}
