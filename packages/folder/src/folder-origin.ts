import { nameKey } from "@xdstp/uri";
import type { FolderEntry } from "./folder-entry.ts";
import { type FolderProblem, formatProblem } from "./folder-problem.ts";
import { createLineFinder } from "./resource-lines.ts";

/** Where a resource of a folder came from. */
export interface FolderOrigin {
  /** The file, with the line at which the resource begins where that is known: `config/_opaque/clusters/web.yaml:1`. Of a name that the folder does not have: the folder. */
  readonly place: string;
  /** Why the newest state of that place is not served. Absent: it is served. */
  readonly problem?: string;
}

/** What is known of the folder when an origin is looked up. */
export interface OriginState {
  readonly dir: string;
  /** The resources that are served. */
  readonly entries: readonly FolderEntry[];
  /** The problems of the newest reading. */
  readonly problems: readonly FolderProblem[];
  /** Why the newest reading was not applied, at least in part. undefined: it was. */
  readonly trouble: string | undefined;
  /** A reading with problems is applied as far as it is good. */
  readonly isPartial: boolean;
}

/** A resource by name. */
export interface OriginQuestion {
  readonly typeUrl: string;
  /** In any spelling, or an alias. */
  readonly name: string;
  /** Key of the nodes that it is for. undefined: for all. */
  readonly node: string | undefined;
}

/** Returns where a resource came from. undefined: the folder does not have it, and is as it is served. */
export async function folderOrigin(
  state: OriginState,
  asked: OriginQuestion,
): Promise<FolderOrigin | undefined> {
  const { dir, problems, trouble, isPartial } = state;
  const found = entryOf(state.entries, asked);
  if (found === undefined)
    return trouble === undefined ? undefined : { place: dir, problem: trouble };
  const own = problems.filter(({ file }) => file === found.file).map(formatProblem);
  const problem = own.length > 0 ? own.join("; ") : isPartial ? undefined : trouble;
  const line = own.length > 0 ? undefined : await createLineFinder()(found);
  return {
    place: line === undefined ? found.file : `${found.file}:${line}`,
    ...(problem !== undefined && { problem }),
  };
}

/** A file of the node's key is served instead of the one for all. */
function entryOf(
  entries: readonly FolderEntry[],
  { typeUrl, name, node }: OriginQuestion,
): FolderEntry | undefined {
  const key = nameKey(name);
  const all = entries.filter(
    (entry) =>
      entry.typeUrl === typeUrl &&
      [entry.name, ...entry.aliases].some((one) => nameKey(one) === key) &&
      (entry.node === undefined || entry.node === node),
  );
  return all.find((entry) => entry.node !== undefined) ?? all[0];
}
