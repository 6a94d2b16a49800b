import { accessSync, constants } from "node:fs";
import { dirname } from "node:path";
import type * as sqlite from "node:sqlite";
import type { DatabaseSync } from "node:sqlite";

import { checkPrivateFiles, createPrivateFile, SnapshotError, textOf } from "./private-files.ts";
import type { Row } from "./record.ts";

/**
 * The application id in the header of the file, "xdst". It distinguishes a snapshot from a database
 * of another program.
 */
const APPLICATION = 0x78647374;

/** The format version of the file. */
const FORMAT = 1;

/** A database that is not a snapshot. */
export class ForeignDatabase extends Error {
  override readonly name: string = "ForeignDatabase";
}

/** Bytes that the write-ahead log keeps on disk when it is not in use. */
const LOG_BYTES = 4 << 20;

/**
 * Opens a snapshot for writing, and creates it if it does not exist. A commit is on disk when it
 * returns, and deleted data are overwritten with zeros.
 * Throws {@link ForeignDatabase}, a {@link SnapshotError}, and the errors of SQLite and of the
 * system.
 */
export function openToWrite(path: string): DatabaseSync {
  if (!checkPrivateFiles(path)) createPrivateFile(path);
  const database = openSqlite(path, { readOnly: false });
  return opened(database, () => {
    database.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA journal_size_limit = ${LOG_BYTES}`,
    );
    if (isEmpty(database))
      database.exec(`
        BEGIN;
        PRAGMA application_id = ${APPLICATION};
        PRAGMA user_version = ${FORMAT};
        CREATE TABLE entry (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, facts TEXT NOT NULL, sum INTEGER NOT NULL, body BLOB);
        COMMIT`);
    checkFormat(path, database);
    return database;
  });
}

/**
 * Opens a snapshot for reading. Returns `undefined` if it does not exist or is empty. Works in a
 * read-only directory.
 * Throws the same errors as {@link openToWrite}.
 */
export function openToRead(path: string): DatabaseSync | undefined {
  if (!checkPrivateFiles(path)) return undefined;
  try {
    return checked(path, openSqlite(path, { readOnly: true }));
  } catch (error) {
    if (sqliteCodeOf(error) !== CANNOT_OPEN || isWritable(dirname(path))) throw error;
    // SQLite cannot create its shared-memory file here, and does not need it: no process can write,
    // and a relay that was closed has not left a log.
    const url = `file:${encodeURI(path).replaceAll("?", "%3f").replaceAll("#", "%23")}?immutable=1`;
    try {
      return checked(path, openSqlite(url, { readOnly: true }));
    } catch (inner) {
      if (sqliteCodeOf(inner) !== CANNOT_OPEN) throw inner;
      throw new SnapshotError(
        `${path} cannot be read by Node ${process.versions.node}, since its directory is read-only; use Node 22.15 or newer, or let this process write there`,
        { cause: inner },
      );
    }
  }
}

const CANNOT_OPEN = 14;

/**
 * Returns `undefined` for an empty file, as a process leaves it that was killed while it created
 * the file.
 */
function checked(path: string, database: DatabaseSync): DatabaseSync | undefined {
  return opened(database, () => {
    if (!isEmpty(database)) {
      checkFormat(path, database);
      return database;
    }
    database.close();
    return undefined;
  });
}

function isWritable(dir: string): boolean {
  try {
    accessSync(dir, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function opened<T>(database: DatabaseSync, use: () => T): T {
  try {
    return use();
  } catch (error) {
    database.close();
    throw error;
  }
}

function isEmpty(database: DatabaseSync): boolean {
  return database.prepare("SELECT count(*) AS n FROM sqlite_schema").get()?.n === 0;
}

function checkFormat(path: string, database: DatabaseSync): void {
  const application = pragma(database, "application_id");
  if (application !== APPLICATION)
    throw new ForeignDatabase(`${path} is a database of another program`);
  if (pragma(database, "user_version") > FORMAT)
    throw new SnapshotError(
      `${path} was written by a newer release; use that one, or give this one a directory of its own`,
    );
}

function pragma(database: DatabaseSync, name: "application_id" | "user_version"): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
}

/**
 * Returns the damage in the structure of a database, or `undefined` if it is intact. Reads the
 * whole file.
 */
export function damageOf(database: DatabaseSync): string | undefined {
  try {
    const found = database.prepare("PRAGMA quick_check(1)").get()?.quick_check;
    return found === "ok" ? undefined : String(found).replaceAll("\n", " ");
  } catch (error) {
    return textOf(error);
  }
}

/** A row without its body, and its number of bytes on disk. */
export type RowHead = Omit<Row, "body"> & { readonly bytes: number };

/**
 * Yields all rows without their bodies, in the order of their ids. Throws the error of SQLite if
 * the file cannot be read further.
 */
export function* rowHeads(database: DatabaseSync): Generator<RowHead> {
  const rows = database
    .prepare(
      "SELECT id, kind, facts, sum, length(facts) + coalesce(length(body), 0) AS bytes FROM entry ORDER BY id",
    )
    .iterate();
  for (const row of rows) yield row as unknown as RowHead;
}

const ROW = "SELECT id, kind, facts, sum, body FROM entry WHERE id = ?";

/** Returns a function that reads rows by id, as long as the database is open. */
export function rowGetter(database: DatabaseSync): (id: number) => Row | undefined {
  const statement = database.prepare(ROW);
  return (id) => statement.get(id) as unknown as Row | undefined;
}

/**
 * Opens an SQLite database with the library that is part of Node.
 * Throws a {@link SnapshotError} if this Node does not have the library, and the errors of SQLite.
 */
export function openSqlite(
  path: string,
  options: { readonly readOnly: boolean },
): sqlite.DatabaseSync {
  const database = new (loadSqlite().DatabaseSync)(path, options);
  // Another connection may be recovering the write-ahead log, which takes milliseconds.
  database.exec("PRAGMA busy_timeout = 100");
  return database;
}

let loaded: Pick<typeof sqlite, "DatabaseSync"> | undefined;

/**
 * Loads SQLite. Node 22 prints a warning that SQLite is experimental. It is suppressed, since users
 * of a relay cannot do anything about it.
 */
function loadSqlite(): NonNullable<typeof loaded> {
  if (loaded !== undefined) return loaded;
  const emitWarning: unknown = Reflect.get(process, "emitWarning");
  process.emitWarning = () => undefined;
  try {
    loaded = (process as Partial<NodeJS.Process>).getBuiltinModule?.("node:sqlite");
  } finally {
    Reflect.set(process, "emitWarning", emitWarning);
  }
  if (loaded === undefined)
    throw new SnapshotError(
      `a snapshot on disk needs node:sqlite, and Node ${process.versions.node} does not have it; run the relay with Node 22.13 or newer, or without a snapshot`,
    );
  return loaded;
}

/** Primary result codes of SQLite. */
export const SqliteCode = {
  BUSY: 5,
  CORRUPT: 11,
  NOTADB: 26,
} as const;

/** Returns the primary result code of an error of SQLite, or `undefined` for any other error. */
export function sqliteCodeOf(error: unknown): number | undefined {
  const code = (error as { readonly errcode?: unknown } | undefined)?.errcode;
  return typeof code === "number" ? code & 0xff : undefined;
}

/** Returns true if an error of SQLite means that the bytes of the file are not a valid database. */
export function isDamage(error: unknown): boolean {
  const code = sqliteCodeOf(error);
  return code === SqliteCode.CORRUPT || code === SqliteCode.NOTADB;
}

/** Reads rows of the database while another connection writes. */
export class SnapshotReader {
  readonly #path: string;
  #database: DatabaseSync | undefined;
  #get: ((id: number) => Row | undefined) | undefined;

  /** @param database - An open connection */
  constructor(path: string, database: DatabaseSync | undefined) {
    this.#path = path;
    this.#use(database);
  }

  /** Returns `undefined` if the row does not exist. Throws the error of SQLite. */
  row(id: number): Row | undefined {
    if (this.#get === undefined) this.#use(openToRead(this.#path));
    return this.#get?.(id);
  }

  /**
   * Reads from the file that has the path now. It is opened at once, so it can still be read if it
   * is removed later.
   */
  reopen(): void {
    this.close();
    try {
      this.#use(openToRead(this.#path));
    } catch {
      // The next read tries again, and throws.
    }
  }

  close(): void {
    this.#database?.close();
    this.#database = undefined;
    this.#get = undefined;
  }

  #use(database: DatabaseSync | undefined): void {
    this.#database = database;
    this.#get = database && rowGetter(database);
  }
}
