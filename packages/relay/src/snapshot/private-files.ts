import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  statSync,
  type Stats,
} from "node:fs";

import { XdsError } from "@xdstp/core";

/** Flags for every file of a snapshot: a link is not followed, and a FIFO or a device does not block. 0 where the system does not have them. */
export const PRIVATE_FLAGS: number = flag("O_NOFOLLOW") | flag("O_NONBLOCK");

/**
 * Makes the directory of a snapshot, of mode 0700, or checks the one that exists: nobody but this user and root may put files there, since the relay serves what is in them.
 * Throws FAILED_PRECONDITION where others may, or where it cannot be made. Systems without user ids are not checked.
 */
export function makePrivateDirectory(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    checkDirectory(dir);
  } catch (error) {
    if (error instanceof XdsError) throw error;
    throw new XdsError(
      "FAILED_PRECONDITION",
      `the snapshot directory ${dir} cannot be made: ${textOf(error)}; give one that this process may write to`,
      { cause: error },
    );
  }
}

/** Opens a file of a snapshot for reading. undefined: it does not exist. Throws as {@link checkPrivateFile} does, and the error of the system. */
export function openPrivateFile(path: string): number | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | PRIVATE_FLAGS);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw code === "ELOOP" ? notRegular(path, "a link") : error;
  }
  try {
    const stats = fstatSync(fd);
    checkPrivateFile(path, stats);
    if (isOpenToOthers(stats)) closeToOthers(fd);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Throws FAILED_PRECONDITION where an open file is not a regular file of this user or root: others could read what is written there, or choose what is served. */
export function checkPrivateFile(path: string, stats: Stats): void {
  if (!stats.isFile()) throw notRegular(path, "not a regular file");
  if (!isTrusted(stats.uid))
    throw new XdsError(
      "FAILED_PRECONDITION",
      `${path} belongs to user ${stats.uid}, and this process runs as user ${ownUser() ?? 0}; remove the file, or give it to that user`,
    );
}

/** Others may read or write it. */
export function isOpenToOthers({ mode }: Stats): boolean {
  return ownUser() !== undefined && (mode & 0o077) !== 0;
}

/** The error of an open that met a link. */
export function linkError(path: string): XdsError {
  return notRegular(path, "a link");
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

function directoryError(which: string, why: string): XdsError {
  return new XdsError(
    "FAILED_PRECONDITION",
    `the snapshot directory ${which} ${why}, who could put files there that the relay would serve; give a directory inside of it, which the relay makes for itself, or one of mode 0700 of its own user`,
  );
}

function notRegular(path: string, what: string): XdsError {
  return new XdsError(
    "FAILED_PRECONDITION",
    `${path} is ${what}, and a snapshot is kept in regular files only; remove it, or give another directory`,
  );
}

/** A file system that is read-only keeps its modes. */
function closeToOthers(fd: number): void {
  try {
    fchmodSync(fd, 0o600);
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

/** Absent on some systems, whatever the types say. */
function flag(name: "O_NOFOLLOW" | "O_NONBLOCK"): number {
  return (constants as Partial<typeof constants>)[name] ?? 0;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
