import { dirname } from "node:path/posix";
import type { FolderState } from "./folder-reader.ts";
import type { FoundDirectory } from "./walk-folder.ts";

/** The part of a state that shows whether a volume is mounted. */
type Places = Pick<FolderState, "directories" | "paths">;

/**
 * Returns the path below the folder of a volume that is no longer available. The folder itself is the empty path. Returns `undefined` if the missing files were deleted one by one.
 * The folder itself counts as such a volume if it has no resources now, and is empty or another directory than before.
 * Inside of the folder, it is a directory that had resources and has none now, because another file system is mounted there, or because it was mounted and no longer is.
 */
export function lostVolume(before: Places | undefined, now: Places): string | undefined {
  const [had, has] = [populated(before?.paths ?? []), populated(now.paths)];
  if (!has.has("") && isOtherRoot(before?.directories.get(""), now.directories.get(""))) return "";
  return [...had].find(
    (path) =>
      path !== "" &&
      !has.has(path) &&
      isUnmounted(before?.directories.get(path), now.directories.get(path)),
  );
}

/**
 * Returns the path below the folder of a directory that was a volume, or lay in one, which is no longer mounted, so that the directory under the mount point is visible. The folder itself is the empty path.
 * A volume that is replaced by another one is still mounted, and so is one whose folder is replaced by a rename. A link that leads elsewhere now is not such a directory.
 */
export function uncoveredVolume(before: Places | undefined, now: Places): string | undefined {
  const [had, has] = [before?.directories.get("")?.place, now.directories.get("")?.place];
  if (had !== undefined && had.path === has?.path && has.mountPoint.length < had.mountPoint.length)
    return "";
  return [...populated(before?.paths ?? [])].find(
    (path) =>
      path !== "" && before?.directories.get(path)?.isMount === true && isUncovered(now, path),
  );
}

function isUncovered({ directories }: Places, path: string): boolean {
  const found = directories.get(path);
  return (
    found !== undefined &&
    !found.isLink &&
    found.device === directories.get(nameOf(dirname(path)))?.device
  );
}

/** Returns the directories with a resource file in them or below them. The root is the empty path. */
function populated(paths: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const path of paths) {
    for (let at = dirname(path); !found.has(nameOf(at)); at = dirname(at)) found.add(nameOf(at));
  }
  return found;
}

function nameOf(directory: string): string {
  return directory === "." ? "" : directory;
}

function isOtherRoot(before: FoundDirectory | undefined, now: FoundDirectory | undefined): boolean {
  return (
    now === undefined || now.isEmpty || (before !== undefined && before.identity !== now.identity)
  );
}

/** Returns true if the file system of a directory has changed, or if a mounted directory is missing. A directory that is deleted and created again, as version control does, stays in its file system. */
function isUnmounted(before: FoundDirectory | undefined, now: FoundDirectory | undefined): boolean {
  if (before === undefined) return false;
  return now === undefined ? before.isMount : now.device !== before.device;
}
