import { dirname } from "node:path";
import { type FolderEntry, keyOf } from "./folder-entry.ts";
import type { FolderProblem } from "./folder-problem.ts";
import type { FolderState } from "./folder-reader.ts";

/**
 * Returns the resources of a reading with problems that can be applied.
 * For an invalid part, the resources that were loaded last are kept: all resources of a file or folder with a problem, and each name of resources that cannot exist together, unless a valid resource has the name now.
 */
export function goodPart(
  loaded: readonly FolderEntry[],
  { entries, clashing }: Pick<FolderState, "entries" | "clashing">,
  problems: readonly FolderProblem[],
): readonly FolderEntry[] {
  const good = entries.filter((entry) => !clashing.has(entry));
  const broken = new Set(problems.map(({ file }) => file));
  const unclear = new Set(Array.from(clashing, keyForNode));
  const present = new Set(good.map(keyForNode));
  const kept = loaded.filter(
    (entry) =>
      !present.has(keyForNode(entry)) &&
      (unclear.has(keyForNode(entry)) || isBelow(entry.file, broken)),
  );
  const read = new Set(entries);
  return [
    ...good,
    ...kept.map((entry) => (read.has(entry) ? entry : { ...entry, isOlder: true as const })),
  ];
}

function keyForNode(entry: FolderEntry): string {
  return `${entry.node ?? ""} ${keyOf(entry)}`;
}

/** Returns true if one of these paths is the file, or a folder around it. */
function isBelow(file: string, paths: ReadonlySet<string>): boolean {
  for (let at = file; ; at = dirname(at)) {
    if (paths.has(at)) return true;
    if (dirname(at) === at) return false;
  }
}
