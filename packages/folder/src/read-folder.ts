import type { Put } from "@xdstp/core";
import { fileTrouble, type FolderProblem } from "./folder-problem.ts";
import { folderContext, type FolderOptions } from "./folder-context.ts";
import { authoritiesOf, foreignProblems } from "./foreign-references.ts";
import { createFolderReader } from "./folder-reader.ts";

/** Reads a folder once, for a linter or a test, and returns what this gave. Never rejects: a folder that cannot be read is a problem. */
export async function readFolder(options: FolderOptions): Promise<{
  /** In the order of the file names. Files with problems give what is right in them. */
  readonly resources: readonly (Put & {
    /** The file that holds it. */
    readonly file: string;
    /** Key of the nodes that it is for (`_nodes/KEY/`). Absent: for all. */
    readonly node?: string;
  })[];
  /** Empty: the folder could be served as it is. */
  readonly problems: readonly FolderProblem[];
  /** What does no harm but may be a mistake. */
  readonly warnings: readonly FolderProblem[];
  /** Files that were read. */
  readonly files: number;
}> {
  try {
    const { files, entries, problems, warnings, references } = await createFolderReader(
      folderContext(options),
    ).read();
    const resources = entries.flatMap(({ file, node, put }) =>
      put === undefined ? [] : [{ ...put, file, ...(node !== undefined && { node }) }],
    );
    return {
      resources,
      problems,
      warnings: [
        ...warnings,
        ...foreignProblems(references, options.authorities ?? authoritiesOf(entries)).map(
          ({ problem }) => problem,
        ),
      ],
      files,
    };
  } catch (error) {
    return {
      resources: [],
      problems: [{ file: options.dir, ...fileTrouble(error) }],
      warnings: [],
      files: 0,
    };
  }
}
