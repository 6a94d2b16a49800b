import type { ResourceSink } from "@xdstp/core";
import type { FolderProblem } from "./folder-problem.ts";
import type { FolderEntry } from "./folder-entry.ts";
import { nodesFolder } from "./place.ts";

/** Where content per node goes: `createNodeCaches` of `@xdstp/cache` is one. */
export interface NodeSinks {
  /** Keys under which something is put. */
  keys(): readonly string[];
  /** The sink of a key. */
  of(key: string): ResourceSink;
}

/** A problem for each file of content per node, where there is no place for it. */
export function unplacedProblems(
  entries: readonly FolderEntry[],
  nodes: NodeSinks | undefined,
): readonly FolderProblem[] {
  if (nodes !== undefined) return [];
  const files = new Set(entries.flatMap(({ file, node }) => (node === undefined ? [] : [file])));
  return [...files].map((file) => ({
    file,
    message: `is content per node, which is not served here`,
    hint: `give createFolderFeed the option nodes, or move the file out of ${nodesFolder}`,
  }));
}
