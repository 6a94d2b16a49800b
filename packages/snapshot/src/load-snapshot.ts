import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";

import {
  damageOf,
  ForeignDatabase,
  isDamage,
  openToRead,
  openToWrite,
  rowGetter,
  type RowHead,
  rowHeads,
} from "./database.ts";
import { databaseOf } from "./database-writer.ts";
import { readRow, type ReadRow } from "./facts.ts";
import { identityOf, setAside, SnapshotError, textOf, type FileIdentity } from "./private-files.ts";
import { createRecord, type SnapshotRecord } from "./record.ts";
import type { SnapshotEvent } from "./snapshot.ts";
import type { SnapshotIndex } from "./snapshot-index.ts";

/** Options of {@link loadSnapshot}. */
export interface LoadOptions {
  readonly dir: string;
  readonly index: SnapshotIndex;
  /** The id of the available key. */
  readonly keyId: string | undefined;
  /** Returns true for a type that must not be stored unencrypted. */
  readonly isSecret: (typeUrl: string) => boolean;
  readonly now: number;
  readonly tell: (event: SnapshotEvent) => void;
}

/** The result of {@link loadSnapshot}. */
export interface LoadedSnapshot {
  /** For reading bodies. `undefined`: no database could be read or created. */
  readonly database: DatabaseSync | undefined;
  readonly file: FileIdentity | undefined;
  /**
   * Secrets that are not encrypted, since they were stored before their type was declared secret.
   * They are not in the index, and have to be deleted.
   */
  readonly exposed: readonly SnapshotRecord[];
}

/** A row whose facts have a valid checksum. */
interface GoodRow {
  readonly head: RowHead;
  readonly read: ReadRow;
}

/**
 * Reads the database of a directory into the index, without bodies. Creates a database if there is
 * none. A damaged file is renamed, and its readable rows are copied. A file of another program is
 * renamed.
 * Throws a {@link SnapshotError} if a newer release wrote it or the path is not a private file, and
 * the error of the system if it cannot be read.
 */
export function loadSnapshot(options: LoadOptions): LoadedSnapshot {
  const path = databaseOf(options.dir);
  setJournalAside(options);
  let database = openKnown(options, path);
  let good: readonly GoodRow[] = [];
  if (database === undefined) database = make(path);
  else {
    const found = goodRows(database);
    good = found.rows;
    if (found.damage !== undefined)
      ({ database, good } = replaceDamaged(options, path, database, good, found.damage));
  }
  const exposed = good.flatMap((row) => apply(options, row));
  return { database, file: database && identityOf(path), exposed };
}

/** Returns `undefined` if there is none, or if it was renamed. */
function openKnown(options: LoadOptions, path: string): DatabaseSync | undefined {
  try {
    return openToRead(path);
  } catch (error) {
    if (!(error instanceof ForeignDatabase) && !isDamage(error)) throw error;
    const { dir, now, tell } = options;
    const { aside, text } = move(path, "foreign", now);
    const message = `${path} is not a snapshot: ${textOf(error)}; nothing in ${dir} is served before upstream answers; ${text}`;
    tell({ kind: "snapshot-set-aside", file: path, aside, message });
    return undefined;
  }
}

/**
 * Returns `undefined` if it cannot be created now. The first write tries again, and reports the
 * reason.
 */
function make(path: string): DatabaseSync | undefined {
  try {
    openToWrite(path).close();
    return openToRead(path);
  } catch (error) {
    if (error instanceof SnapshotError) throw error;
    return undefined;
  }
}

function goodRows(database: DatabaseSync): {
  readonly rows: readonly GoodRow[];
  readonly damage: string | undefined;
} {
  const rows: GoodRow[] = [];
  let bad = 0;
  let damage = damageOf(database);
  try {
    for (const head of rowHeads(database)) {
      const read = readRow(head);
      if (read === undefined) bad++;
      else rows.push({ head, read });
    }
  } catch (error) {
    damage ??= textOf(error);
  }
  if (bad > 0) damage ??= `${bad} rows are not what was written`;
  return { rows, damage };
}

/**
 * Replaces a damaged database. A lost row may have been a member or a removal, so no collection
 * counts as complete.
 */
function replaceDamaged(
  { now, tell }: LoadOptions,
  path: string,
  damaged: DatabaseSync,
  rows: readonly GoodRow[],
  damage: string,
): { readonly database: DatabaseSync | undefined; readonly good: readonly GoodRow[] } {
  const resources = rows.filter(({ read }) => read.kind !== "collection");
  const get = rowGetter(damaged);
  const { aside, text } = move(path, "corrupt", now);
  let good: readonly GoodRow[] = [];
  let database: DatabaseSync | undefined;
  if (aside !== undefined) {
    good = copyRows(path, resources, get);
    database = make(path);
  }
  damaged.close();
  tell({
    kind: "snapshot-set-aside",
    file: path,
    aside,
    message: `${path} is damaged: ${damage}; ${good.length} of its resources are used, and no collection counts as complete until upstream answers; ${text}; check the disk`,
  });
  return { database, good };
}

/** Copies the rows with a readable body to a new file, and returns them. */
function copyRows(
  path: string,
  rows: readonly GoodRow[],
  get: ReturnType<typeof rowGetter>,
): readonly GoodRow[] {
  try {
    const made = openToWrite(path);
    try {
      made.exec("BEGIN");
      const insert = made.prepare("INSERT INTO entry VALUES (?, ?, ?, ?, ?)");
      const copied = rows.filter(({ head: { id, kind, facts, sum } }) => {
        const body = bodyOf(get, id);
        if (body === undefined) return false;
        insert.run(id, kind, facts, sum, body);
        return true;
      });
      made.exec("COMMIT");
      return copied;
    } finally {
      made.close();
    }
  } catch {
    // There is no room for the file, so no row is used.
    return [];
  }
}

/** Returns `undefined` if the body cannot be read. */
function bodyOf(get: ReturnType<typeof rowGetter>, id: number): Uint8Array | null | undefined {
  try {
    return get(id)?.body;
  } catch {
    return undefined;
  }
}

/** Renames a file of the previous format. Its resources arrive again from upstream. */
function setJournalAside({ dir, now, tell }: LoadOptions): void {
  const path = join(dir, "snapshot.journal");
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return;
  const { aside, text } = move(path, "old", now);
  tell({
    kind: "snapshot-set-aside",
    file: path,
    aside,
    message: `${path} was written by a release before 0.1.0, and this one does not read it; nothing is served from it before upstream answers; ${text}`,
  });
}

function move(
  path: string,
  why: string,
  now: number,
): { readonly aside: string | undefined; readonly text: string } {
  try {
    const aside = setAside(path, why, now);
    return { aside, text: `it is kept as ${aside}; remove it when you do not need it` };
  } catch (error) {
    return { aside: undefined, text: `it could not be renamed (${textOf(error)}) and stays there` };
  }
}

/** Adds a row to the index. Returns the record if it is an unencrypted secret. */
function apply(
  { index, keyId, isSecret }: LoadOptions,
  { head: { bytes }, read }: GoodRow,
): readonly SnapshotRecord[] {
  if (read.kind === "collection") {
    index.setCollection({ ...read.collection, length: bytes });
    return [];
  }
  const { typeUrl, space } = read.record;
  const isLocked = read.kind === "sealed" && read.keyId !== keyId;
  const record = createRecord({
    ...read.record,
    length: bytes,
    state: read.kind === "withheld" ? "withheld" : isLocked ? "locked" : "stored",
    typeUrl: index.typeIndex(space, typeUrl).typeUrl,
  });
  index.noteRow(record.row);
  if (read.kind === "resource" && isSecret(typeUrl)) return [record];
  index.set(record);
  return [];
}
