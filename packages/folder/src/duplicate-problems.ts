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
