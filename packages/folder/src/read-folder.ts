import type { Put } from "@xdstp/core";
import { fileTrouble, type FolderProblem } from "./folder-problem.ts";
import { type FolderContext, folderContext, type FolderOptions } from "./folder-context.ts";
import type { FolderEntry } from "./folder-entry.ts";
import { authoritiesOf, foreignProblems } from "./foreign-references.ts";
import { createFolderReader, type FolderReader } from "./folder-reader.ts";
import type { ResourcePlace } from "./resource-lines.ts";

/** What one reading of a folder gave. */
export interface FolderContent {
  /** In the order of the file names. Files with problems give what is right in them. */
  readonly resources: readonly (Put & {
    /** The file that holds it. */
    readonly file: string;
    /** Key of the nodes that it is for (`_nodes/KEY/`). Absent: for all. */
    readonly node?: string;
    /** Where it is in the text of the file, for `createLineFinder`. Absent: the format of the file has no places. */
    readonly place?: ResourcePlace;
  })[];
  /** Empty: the folder could be served as it is. */
  readonly problems: readonly FolderProblem[];
  /** What does no harm but may be a mistake. */
  readonly warnings: readonly FolderProblem[];
  /** Files that were read. */
  readonly files: number;
}

/** Reads a folder once, for a test or a tool. Never rejects: a folder that cannot be read is a problem. `checkFolder` finds more. */
export async function readFolder(options: FolderOptions): Promise<FolderContent> {
  return (await readEntries(options, folderContext(options))).content;
}

/** One reading, with the entries that its resources were made of. */
export async function readEntries(
  options: FolderOptions,
  context: FolderContext,
  reader: FolderReader = createFolderReader(context),
): Promise<{ readonly entries: readonly FolderEntry[]; readonly content: FolderContent }> {
  try {
    const { files, entries, problems, warnings, references } = await reader.read();
    const resources = entries.flatMap(({ file, node, place, put }) =>
      put === undefined
        ? []
        : [{ ...put, file, ...(node !== undefined && { node }), ...(place && { place }) }],
    );
    const foreign = foreignProblems(references, options.authorities ?? authoritiesOf(entries));
    return {
      entries,
      content: {
        resources,
        problems,
        warnings: [...warnings, ...foreign.map(({ problem }) => problem)],
        files,
      },
    };
  } catch (error) {
    const problems = [{ file: options.dir, ...fileTrouble(error) }];
    return { entries: [], content: { resources: [], problems, warnings: [], files: 0 } };
  }
}
