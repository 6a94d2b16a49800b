import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { FolderProblem } from "./folder-problem.ts";
import { mapLimit, type Patience } from "./pacing.ts";
import type { FoundFile } from "./walk-folder.ts";

const parallel = 32;

/**
 * Returns a problem for each of `files` that has changed since it was listed. Another process is writing such a file, so its content may be incomplete.
 * A file that was replaced by a rename was read whole, so it has no problem. A removed file has none either.
 */
export async function filesInWriting(
  dir: string,
  files: readonly FoundFile[],
  patience: Patience,
): Promise<readonly FolderProblem[]> {
  const found = await mapLimit(
    files,
    parallel,
    async ({ segments, stats }): Promise<readonly FolderProblem[]> => {
      const file = join(dir, ...segments);
      const now = await patience(file, () => stat(file)).catch(() => undefined);
      const isWritten =
        now?.ino === stats.ino &&
        now.dev === stats.dev &&
        (now.size !== stats.size || now.mtimeMs !== stats.mtimeMs);
      return isWritten
        ? [
            {
              file,
              code: "file-in-writing",
              message: "is being written, and has not been left alone for 100 ms",
              hint: "write it elsewhere and rename it into its place",
            },
          ]
        : [];
    },
  );
  return found.flat();
}
