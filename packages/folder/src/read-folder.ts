import type { Put } from "@xdstp/core";
import { fileTrouble, type FolderProblem } from "./folder-problem.ts";
import { type FolderContext, folderContext, type FolderOptions } from "./folder-context.ts";
import type { FolderEntry } from "./folder-entry.ts";
import { authoritiesOf, foreignProblems } from "./foreign-references.ts";
import { createFolderReader, type FolderReader } from "./folder-reader.ts";
import type { ResourcePlace } from "./resource-lines.ts";

/** The result of reading a folder. */
export interface FolderContent {
  /** The resources in the order of the file names. A file with problems still gives its valid resources. */
  readonly resources: readonly (Put & {
    /** The file that contains the resource. */
    readonly file: string;
    /** The key of the nodes that the resource is for (`_nodes/KEY/`). Absent: all nodes. */
    readonly node?: string;
    /** The place of the resource in the text of the file, for `createLineFinder`. Absent: the format of the file has no places. */
    readonly place?: ResourcePlace;
    /** True: a problem is about it, or another resource has its name, so a feed with `partial` does not apply it. */
    readonly isUnserved?: true;
  })[];
  /** Empty: the folder can be served as it is. */
  readonly problems: readonly FolderProblem[];
  /** Likely mistakes that do no harm. */
  readonly warnings: readonly FolderProblem[];
  /** The number of files that were read. */
  readonly files: number;
}

/** Reads a folder once, for a test or a tool. Never rejects: a folder that cannot be read is a problem. `checkFolder` finds more. */
export async function readFolder(options: FolderOptions): Promise<FolderContent> {
  return (await readEntries(options, folderContext(options))).content;
}

/** Reads a folder once, and also returns the entries of its resources. */
export async function readEntries(
  options: FolderOptions,
  context: FolderContext,
  reader: FolderReader = createFolderReader(context),
): Promise<{ readonly entries: readonly FolderEntry[]; readonly content: FolderContent }> {
  try {
    const { files, entries, clashing, problems, warnings, references } = await reader.read();
    const resources = entries.flatMap((entry) => {
      const { file, node, place, put, isFaulty } = entry;
      if (put === undefined) return [];
      const isUnserved = isFaulty === true || clashing.has(entry);
      return [
        {
          ...put,
          file,
          ...(node !== undefined && { node }),
          ...(place && { place }),
          ...(isUnserved && { isUnserved: true as const }),
        },
      ];
    });
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
