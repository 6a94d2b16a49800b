import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { FolderProblem } from "./folder-problem.ts";
import { mapLimit } from "./map-limit.ts";
import type { Patience } from "./patience.ts";
import type { FoundFile } from "./walk-folder.ts";

const parallel = 32;

/**
 * A problem for each of these files that has changed since it was listed: somebody is writing it, and what was read may be a part of it.
 * A file that another one has replaced by a rename was read whole, so it is not one of them; nor is one that is gone.
 */
export async function filesInWriting(dir: string, files: readonly FoundFile[], patience: Patience): Promise<readonly FolderProblem[]> {
  const found = await mapLimit(files, parallel, async ({ segments, stats }) => {
    const file = join(dir, ...segments);
    const now = await patience(file, () => stat(file)).catch(() => undefined);
    const isWritten = now?.ino === stats.ino && now.dev === stats.dev && (now.size !== stats.size || now.mtimeMs !== stats.mtimeMs);
    return isWritten ? [{ file, message: "is being written, and has not been left alone for 100 ms", hint: "write it elsewhere and rename it into its place" }] : [];
  });
  return found.flat();
}
