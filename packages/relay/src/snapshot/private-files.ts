import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  statSync,
  type Stats,
} from "node:fs";

/** Something about the files of a snapshot that only an operator can change. The message is complete: which path, why, what to do. */
export class SnapshotError extends Error {
  override readonly name: string = "SnapshotError";
}

/** Distinguishes a file from another one that has its path later. */
export interface FileIdentity {
  readonly device: number;
  readonly inode: number;
}

/**
 * Makes the directory of a snapshot, of mode 0700, or checks the one that exists: only this user and root may put files there, since the relay serves what is in them.
 * Throws a {@link SnapshotError} where others may, or where it cannot be made. Systems without user ids are not checked.
 */
export function makePrivateDirectory(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    checkDirectory(dir);
  } catch (error) {
    if (error instanceof SnapshotError) throw error;
    throw new SnapshotError(
      `the snapshot directory ${dir} cannot be made: ${textOf(error)}; give one that this process may write to`,
      { cause: error },
    );
  }
}

/** A database of SQLite, and the files that SQLite keeps next to it. */
function filesOf(path: string): readonly string[] {
  return ["", "-wal", "-shm", "-journal"].map((suffix) => path + suffix);
}

/**
 * Checks that a database and the files next to it are regular files of this user or root, and closes them to others; returns whether the database exists.
 * SQLite follows links, so this is done before it opens a path. The files are never opened here: closing one would end the locks that SQLite has on it in this process.
 * Throws a {@link SnapshotError} for a link, a FIFO, a device, a directory, or a file of another user.
 */
export function checkPrivateFiles(path: string): boolean {
  for (const file of filesOf(path)) {
    const stats = lstatSync(file, { throwIfNoEntry: false });
    if (stats !== undefined) checkPrivateFile(file, stats);
  }
  return existsSync(path);
}

/** Makes an empty file of mode 0600. Throws the error of the system, also where there is something at the path. */
export function createPrivateFile(path: string): void {
  closeSync(openSync(path, "wx", 0o600));
}

/** undefined: there is nothing at the path. */
export function identityOf(path: string): FileIdentity | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats && { device: stats.dev, inode: stats.ino };
}

export function isSameFile(
  one: FileIdentity | undefined,
  other: FileIdentity | undefined,
): boolean {
  return one?.device === other?.device && one?.inode === other?.inode;
}

/** Bytes of a database with its write-ahead log; 0: it does not exist. */
export function sizeOf(path: string): number {
  return [path, `${path}-wal`].reduce(
    (sum, file) => sum + (lstatSync(file, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}

/** Renames a database with the files next to it; returns the new path, which was free. Throws the error of the system. */
export function setAside(path: string, why: string, now: number): string {
  const base = `${path}.${why}-${new Date(now).toISOString().replaceAll(":", "-")}`;
  let aside = base;
  for (let nth = 2; lstatSync(aside, { throwIfNoEntry: false }) !== undefined; nth++)
    aside = `${base}-${nth}`;
  // The log is of no use without its database, so the database goes last.
  for (const file of filesOf(path).toReversed())
    if (lstatSync(file, { throwIfNoEntry: false }) !== undefined)
      renameSync(file, aside + file.slice(path.length));
  return aside;
}

export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function checkPrivateFile(path: string, stats: Stats): void {
  const { uid, mode } = stats;
  if (!stats.isFile())
    throw new SnapshotError(
      `${path} is ${stats.isSymbolicLink() ? "a link" : "not a regular file"}, and a snapshot is kept in regular files only; remove it, or give another directory`,
    );
  if (!isTrusted(uid))
    throw new SnapshotError(
      `${path} belongs to user ${uid}, and this process runs as user ${ownUser() ?? 0}; remove the file, or give it to that user`,
    );
  if (ownUser() !== undefined && (mode & 0o077) !== 0) closeToOthers(path);
}

function checkDirectory(dir: string): void {
  if (ownUser() === undefined) return;
  const link = lstatSync(dir);
  const real = realpathSync(dir);
  const { uid, mode } = statSync(real);
  const which = real === dir || !link.isSymbolicLink() ? dir : `${dir} (a link to ${real})`;
  if (link.isSymbolicLink() && !isTrusted(link.uid))
    throw directoryError(which, `is a link of user ${link.uid}`);
  if (!isTrusted(uid))
    throw directoryError(
      which,
      `belongs to user ${uid}, and this process runs as user ${ownUser() ?? 0}`,
    );
  if ((mode & 0o002) !== 0)
    throw directoryError(
      which,
      `may be written to by every user (mode ${(mode & 0o7777).toString(8)})`,
    );
}

function directoryError(which: string, why: string): SnapshotError {
  return new SnapshotError(
    `the snapshot directory ${which} ${why}, who could put files there that the relay would serve; give a directory inside of it, which the relay makes for itself, or one of mode 0700 of its own user`,
  );
}

/** A file system that is read-only keeps its modes. */
function closeToOthers(path: string): void {
  try {
    chmodSync(path, 0o600);
  } catch (error) {
    if (!["EROFS", "EPERM", "ENOTSUP"].includes((error as NodeJS.ErrnoException).code ?? ""))
      throw error;
  }
}

function isTrusted(uid: number): boolean {
  const own = ownUser();
  return own === undefined || uid === own || uid === 0;
}

/** undefined: the system does not have user ids. */
function ownUser(): number | undefined {
  return process.geteuid?.();
}
