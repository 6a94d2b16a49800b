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
  /** As problems name it. */
  readonly file: string;
  /** Key of the nodes that it is for. Absent: for all. */
  readonly node?: string;
  readonly typeUrl: string;
  readonly name: string;
  /** Which variant of the name it is (TP2). Absent: it has no constraints. */
  readonly variant?: FolderVariant;
  readonly aliases: readonly string[];
  /** Where it is in the file. Absent: the format of the file has no places. */
  readonly place?: ResourcePlace;
  /** Clients would reject it, or it is half written, so it is not put. What the cache has of its name stays. */
  readonly isFaulty?: true;
  /** Its file is broken now, so what was loaded before stays. */
  readonly isOlder?: true;
  /** What to put. It is let go as soon as the cache has it. */
  put?: Put | undefined;
}

/** Which of the variants of a name (TP2). */
interface FolderVariant {
  readonly constraints: Constraints;
  /** The constraints in words: equal for equal ones. */
  readonly text: string;
}

/** The variant that encoded constraints say; undefined: there are none, or they say nothing. */
export function variantOf(constraints: Uint8Array | undefined): FolderVariant | undefined {
  const read =
    constraints === undefined || constraints.length === 0
      ? undefined
      : readConstraints(constraints);
  return read === undefined || read.fault !== undefined
    ? undefined
    : { constraints: read.constraints, text: textOfConstraints(read.constraints) };
}

/** A map key for a resource: type, name and variant. */
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
    code: "unserved",
    message: `is content per node, which is not served here`,
    hint: `give createFolderFeed the option nodes, or move the file out of ${nodesFolder}`,
  }));
}

/** Two resources that cannot be there together. */
export interface Clash {
  readonly between: readonly [FolderEntry, FolderEntry];
  readonly problem: FolderProblem;
}

/** The resources for one node key, or for all, that cannot be there together: equal names, and variants of one name. */
export function clashesOf(entries: readonly FolderEntry[]): readonly Clash[] {
  return [...duplicates(entries), ...conflictingVariants(entries)];
}

/** Names and aliases that occur more than once in a type, with the same constraints; both files are named. Names are canonical, so equal means equal (N-41). */
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

/** Variants of one name that cannot be there together; both files are named (S-DYN-4). */
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
