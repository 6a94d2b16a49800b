import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestResource } from "./resources.ts";
import { fileOf } from "./use-cli.ts";

/** Writes and removes the files of resources in a folder that is served, fast enough to be taken as one transaction. */
export function writeResources(
  dir: string,
  put: readonly TestResource[],
  remove: readonly TestResource[] = [],
): void {
  for (const [file, text] of put.map(fileOf)) writeFileSync(join(dir, file), text);
  for (const [file] of remove.map(fileOf)) rmSync(join(dir, file));
}
