import { nameKey } from "@xdstp/uri";
import type { FolderEntry } from "./folder-entry.ts";
import { type FolderProblem, formatProblem } from "./folder-problem.ts";
import { createLineFinder } from "./resource-lines.ts";

/** The origin of a resource of a folder. */
export interface FolderOrigin {
  /** The file, with the line at which the resource begins if it is known: `config/_opaque/clusters/web.yaml:1`. For a name that the folder does not have, the folder. */
  readonly place: string;
  /** The reason why the newest state of the file is not served. Absent: it is served. */
  readonly problem?: string;
}

/** The state of the folder that an origin is computed from. */
export interface OriginState {
  readonly dir: string;
  /** The resources that are served. */
  readonly entries: readonly FolderEntry[];
  /** The problems of the newest reading. */
  readonly problems: readonly FolderProblem[];
  /** The reason why the newest reading was not applied, or not as a whole. `undefined`: it was applied. */
  readonly trouble: string | undefined;
  /** true: the valid part of a reading with problems is applied. */
  readonly isPartial: boolean;
}

/** The name of a resource whose origin is requested. */
export interface OriginQuestion {
  readonly typeUrl: string;
  /** The name in any spelling, or an alias. */
  readonly name: string;
  /** The key of the nodes that the resource is for. `undefined`: all nodes. */
  readonly node: string | undefined;
}

/** Returns the origin of a resource, or `undefined` if the folder does not have it and has no problems. */
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

/** Returns the resource with a name. A resource for the node key is preferred to that for all nodes. */
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
