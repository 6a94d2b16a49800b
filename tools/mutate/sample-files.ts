import { createHash } from "node:crypto";

/** A source file and its length. */
export interface SourceFile {
  readonly path: string;
  readonly lines: number;
}

/**
 * Files in an order that the seed decides, until they hold the share of all lines that is asked for.
 * Whole files, because a mutant may span any part of one. `share` is above 0, and 1 for all.
 */
export function sampleFiles(
  files: readonly SourceFile[],
  share: number,
  seed: string,
): readonly string[] {
  const wanted = share * files.reduce((sum, { lines }) => sum + lines, 0);
  const shuffled = files
    .map((file) => ({ ...file, rank: rankOf(file.path, seed) }))
    .sort((left, right) => (left.rank < right.rank ? -1 : 1));
  const chosen: string[] = [];
  let held = 0;
  for (const { path, lines } of shuffled) {
    if (held >= wanted) break;
    chosen.push(path);
    held += lines;
  }
  return chosen.sort();
}

function rankOf(path: string, seed: string): string {
  return createHash("sha256").update(`${seed} ${path}`).digest("hex");
}
