import type * as sqlite from "node:sqlite";

import { SnapshotError } from "./private-files.ts";

/**
 * Opens an SQLite database with the library that is part of Node.
 * Throws a {@link SnapshotError} where this Node does not have it, and the error of SQLite.
 */
export function openSqlite(
  path: string,
  options: { readonly readOnly: boolean },
): sqlite.DatabaseSync {
  const database = new (loadSqlite().DatabaseSync)(path, options);
  // Another connection may be recovering the write-ahead log; this takes milliseconds.
  database.exec("PRAGMA busy_timeout = 100");
  return database;
}

let loaded: Pick<typeof sqlite, "DatabaseSync"> | undefined;

/** Node 22 prints that SQLite is experimental when it is loaded; users of a relay cannot do anything about that, so this one line is left out. */
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

/** Returns the primary result code of an error of SQLite; undefined for any other error. */
export function sqliteCodeOf(error: unknown): number | undefined {
  const code = (error as { readonly errcode?: unknown } | undefined)?.errcode;
  return typeof code === "number" ? code & 0xff : undefined;
}

/** Whether an error of SQLite says that the bytes of the file are not those of a database. */
export function isDamage(error: unknown): boolean {
  const code = sqliteCodeOf(error);
  return code === SqliteCode.CORRUPT || code === SqliteCode.NOTADB;
}
