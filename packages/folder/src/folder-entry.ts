import {
  conflictOf,
  type Constraints,
  type Put,
  readConstraints,
  type ResourceSink,
  textOfConstraints,
} from "@xdstp/core";
import { type FolderProblem, quote } from "./folder-problem.ts";
import { nodesFolder } from "./place.ts";
import type { ResourcePlace } from "./resource-lines.ts";

/** A resource and its file. */
export interface FolderEntry {
  /** The path of the file, as problems name it. */
  readonly file: string;
  /** The key of the nodes that the resource is for. Absent: all nodes. */
  readonly node?: string;
  readonly typeUrl: string;
  readonly name: string;
  /** The variant of the name (TP2). Absent: the resource has no constraints. */
  readonly variant?: FolderVariant;
  readonly aliases: readonly string[];
  /** The names by which others refer to it, as hashes of `usageOf`. Absent: clients request it without a reference. */
  readonly keys?: number | readonly number[];
  /** The resources that it refers to, of the types that need a reference, as hashes of `usageOf`. */
  readonly uses: readonly number[];
  /** The place of the resource in the file. Absent: the format of the file has no places. */
  readonly place?: ResourcePlace;
  /** true: clients would reject the resource, or its file is being written, so it is not put into the cache. A resource of this name in the cache stays. */
  readonly isFaulty?: true;
  /** true: the resource was loaded before and stays, because its file is invalid now. */
  readonly isOlder?: true;
  /** The resource to put into the cache. It is removed when the cache has it, to free its memory. */
  put?: Put | undefined;
}

/** A variant of a name (TP2). */
interface FolderVariant {
  readonly constraints: Constraints;
  /** The constraints as text, which is equal for equal constraints. */
  readonly text: string;
}

/** Returns the variant of encoded constraints, or `undefined` if there are none or they are invalid. */
export function variantOf(constraints: Uint8Array | undefined): FolderVariant | undefined {
  const read =
    constraints === undefined || constraints.length === 0
      ? undefined
      : readConstraints(constraints);
  return read === undefined || read.fault !== undefined
    ? undefined
    : { constraints: read.constraints, text: textOfConstraints(read.constraints) };
}

/** Returns a map key for a resource: type, name and variant. */
export function keyOf({
  typeUrl,
  name,
  variant,
}: {
  readonly typeUrl: string;
  readonly name: string;
  readonly variant?: FolderVariant | undefined;
}): string {
  return variant === undefined ? `${typeUrl} ${name}` : `${typeUrl} ${name} ${variant.text}`;
}

/** The sinks for content per node. `createNodeCaches` of `@xdstp/cache` is one. */
export interface NodeSinks {
  /** Returns the keys that have content. */
  keys(): readonly string[];
  /** Returns the sink of a key. */
  of(key: string): ResourceSink;
}

/** Returns a problem for each file with content per node if there are no sinks for it. */
export function unplacedProblems(
  entries: readonly FolderEntry[],
  nodes: NodeSinks | undefined,
): readonly FolderProblem[] {
  if (nodes !== undefined) return [];
  const files = new Set(entries.flatMap(({ file, node }) => (node === undefined ? [] : [file])));
  return [...files].map((file) => ({
    file,
    code: "unserved",
    message: `is content per node, which is not served here`,
    hint: `give createFolderFeed the option nodes, or move the file out of ${nodesFolder}`,
  }));
}

/** Two resources that cannot exist together. */
export interface Clash {
  readonly between: readonly [FolderEntry, FolderEntry];
  readonly problem: FolderProblem;
}

/** Returns the pairs of resources that cannot exist together: equal names, and conflicting variants of one name. Pass the resources for one node key, or those for all nodes. */
export function clashesOf(entries: readonly FolderEntry[]): readonly Clash[] {
  return [...duplicates(entries), ...conflictingVariants(entries)];
}

/** Returns the pairs with the same name or alias, type and constraints; the problem names both files. Names are canonical, so equal names have equal texts (N-41). */
function duplicates(entries: readonly FolderEntry[]): readonly Clash[] {
  const first = new Map<string, FolderEntry>();
  return entries.flatMap((entry) =>
    [entry.name, ...entry.aliases].flatMap((name) => {
      const key = keyOf({ ...entry, name });
      const other = first.get(key);
      if (other === undefined) first.set(key, entry);
      return other === undefined ? [] : [clash(entry, other, name)];
    }),
  );
}

function clash(entry: FolderEntry, other: FolderEntry, name: string): Clash {
  const what = entry.name === name && other.name === name ? "the name" : "the name or alias";
  const of = entry.variant === undefined ? "" : ` with the constraints ${entry.variant.text}`;
  const where = other.file === entry.file ? "twice in this file" : `here and in ${other.file}`;
  return {
    between: [entry, other],
    problem: {
      file: entry.file,
      code: "duplicate-name",
      message: `${what} ${quote(name)}${of} stands ${where}`,
      rule: "N-40",
      hint: "keep one of them",
    },
  };
}

const everyone: Constraints = { kind: "and", of: [] };

/** Returns the pairs of variants of one name that one client may match; the problem names both files (S-DYN-4). */
function conflictingVariants(entries: readonly FolderEntry[]): readonly Clash[] {
  const named = new Set(
    entries.flatMap(({ typeUrl, name, variant }) =>
      variant === undefined ? [] : keyOf({ typeUrl, name }),
    ),
  );
  if (named.size === 0) return [];
  const byName = Map.groupBy(entries, ({ typeUrl, name }) => keyOf({ typeUrl, name }));
  return [...named].flatMap((name) => conflictsOf(byName.get(name) ?? []));
}

function conflictsOf(variants: readonly FolderEntry[]): readonly Clash[] {
  return variants.flatMap((entry, index) => {
    const others = variants.slice(0, index).filter((other) => keyOf(other) !== keyOf(entry));
    return others.flatMap((other) => conflictOfTwo(entry, other)).slice(0, 1);
  });
}

function conflictOfTwo(entry: FolderEntry, other: FolderEntry): readonly Clash[] {
  const conflict = conflictOf(
    entry.variant?.constraints ?? everyone,
    other.variant?.constraints ?? everyone,
  );
  if (conflict === undefined) return [];
  const where = other.file === entry.file ? "in this file" : `here and in ${other.file}`;
  const [message = "", hint = ""] = conflict.split("; let ");
  return [
    {
      between: [entry, other],
      problem: {
        file: entry.file,
        code: "overlapping-variants",
        message: `the name ${quote(entry.name)} stands ${where}, but ${message}`,
        rule: "S-DYN-4",
        hint: `let ${hint}`,
      },
    },
  ];
}
