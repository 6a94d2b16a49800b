import { isAbsolute, resolve } from "node:path";

/** A path that counts from `cwd`. Where this is the process's own, it stays as people wrote it, and messages show it so. */
export function pathFrom(cwd: string, path: string): string {
  return isAbsolute(path) || cwd === process.cwd() ? path : resolve(cwd, path);
}
