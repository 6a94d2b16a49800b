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

/**
 * A problem with the files of a snapshot that only an operator can fix. The message has the path,
 * the reason and the way to fix it.
 */
export class SnapshotError extends Error {
  override readonly name: string = "SnapshotError";
}

/** Distinguishes a file from another one that has the same path later. */
export interface FileIdentity {
  readonly device: number;
  readonly inode: number;
}

/**
 * Creates the directory of a snapshot with mode 0700, or checks an existing one: only this user and
 * root may write to it, since the relay serves its contents.
 * Throws a {@link SnapshotError} if others may write to it, or if it cannot be created. Systems
 * without user ids are not checked.
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

/** Returns the paths of an SQLite database and of the files that SQLite keeps next to it. */
function filesOf(path: string): readonly string[] {
  return ["", "-wal", "-shm", "-journal"].map((suffix) => path + suffix);
}

/**
 * Checks that a database and the files next to it are regular files of this user or root, and
 * removes the access of others. Returns true if the database exists.
 * SQLite follows links, so this is done before SQLite opens a path. The files are never opened
 * here: closing one would end the locks that SQLite has on it in this process.
 * Throws a {@link SnapshotError} for a link, a FIFO, a device, a directory, or a file of another
 * user.
 */
export function checkPrivateFiles(path: string): boolean {
  for (const file of filesOf(path)) {
    const stats = lstatSync(file, { throwIfNoEntry: false });
    if (stats !== undefined) checkPrivateFile(file, stats);
  }
  return existsSync(path);
}

/**
 * Creates an empty file with mode 0600. Throws the error of the system, also if the path exists.
 */
export function createPrivateFile(path: string): void {
  closeSync(openSync(path, "wx", 0o600));
}

/** Returns `undefined` if the path does not exist. */
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

/** Returns the bytes of a database with its write-ahead log. 0: it does not exist. */
export function sizeOf(path: string): number {
  return [path, `${path}-wal`].reduce(
    (sum, file) => sum + (lstatSync(file, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}

/**
 * Renames a database with the files next to it. Returns the new path, which did not exist before.
 * Throws the error of the system.
 */
export function setAside(path: string, why: string, now: number): string {
  const base = `${path}.${why}-${new Date(now).toISOString().replaceAll(":", "-")}`;
  let aside = base;
  for (let nth = 2; lstatSync(aside, { throwIfNoEntry: false }) !== undefined; nth++)
    aside = `${base}-${nth}`;
  // The log is of no use without its database, so the database is renamed last.
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

/** Removes the access of others. In a read-only file system the modes stay as they are. */
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

/** Returns `undefined` if the system does not have user ids. */
function ownUser(): number | undefined {
  return process.geteuid?.();
}
