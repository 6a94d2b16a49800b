import { conflictOf, type Constraints } from "@xdstp/core";
import type { FolderEntry } from "./folder-entry.ts";
import type { FolderProblem } from "./folder-problem.ts";
import { quote } from "./quote.ts";
import { keyOf } from "./variant-of.ts";

/** Names and aliases that occur more than once in a type, with the same constraints; both files are named. Names are canonical, so equal means equal (N-41). */
export function duplicateProblems(entries: readonly FolderEntry[]): readonly FolderProblem[] {
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

function clash(entry: FolderEntry, other: FolderEntry, name: string): FolderProblem {
  const what = entry.name === name && other.name === name ? "the name" : "the name or alias";
  const of = entry.variant === undefined ? "" : ` with the constraints ${entry.variant.text}`;
  const where = other.file === entry.file ? "twice in this file" : `here and in ${other.file}`;
  return {
    file: entry.file,
    message: `${what} ${quote(name)}${of} stands ${where}`,
    rule: "N-40",
    hint: "keep one of them",
  };
}

const everyone: Constraints = { kind: "and", of: [] };

/** Variants of one name that cannot be there together; both files are named (S-DYN-4). */
export function variantProblems(entries: readonly FolderEntry[]): readonly FolderProblem[] {
  const named = new Set(
    entries.flatMap(({ typeUrl, name, variant }) =>
      variant === undefined ? [] : keyOf({ typeUrl, name }),
    ),
  );
  if (named.size === 0) return [];
  const byName = Map.groupBy(entries, ({ typeUrl, name }) => keyOf({ typeUrl, name }));
  return [...named].flatMap((name) => problemsOf(byName.get(name) ?? []));
}

function problemsOf(variants: readonly FolderEntry[]): readonly FolderProblem[] {
  return variants.flatMap((entry, index) => {
    const others = variants.slice(0, index).filter((other) => keyOf(other) !== keyOf(entry));
    return others.flatMap((other) => problemOf(entry, other)).slice(0, 1);
  });
}

function problemOf(entry: FolderEntry, other: FolderEntry): readonly FolderProblem[] {
  const conflict = conflictOf(
    entry.variant?.constraints ?? everyone,
    other.variant?.constraints ?? everyone,
  );
  if (conflict === undefined) return [];
  const where = other.file === entry.file ? "in this file" : `here and in ${other.file}`;
  const [message = "", hint = ""] = conflict.split("; let ");
  return [
    {
      file: entry.file,
      message: `the name ${quote(entry.name)} stands ${where}, but ${message}`,
      rule: "S-DYN-4",
      hint: `let ${hint}`,
    },
  ];
}
