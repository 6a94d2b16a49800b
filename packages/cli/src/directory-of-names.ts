import { dirname, relative, resolve } from "node:path";
import { parseLocator } from "@xdstp/uri";

/** Returns the directory that contains the files of all these names, of which there is at least one. A name that is not valid counts for nothing. */
export function directoryOfNames(names: readonly string[]): string {
  const directories = names.flatMap((name) => {
    const parsed = parseLocator(name);
    if (!parsed.ok || parsed.value.scheme !== "file") return [];
    const path = resolve("/", parsed.value.id);
    return [dirname(path)];
  });
  const [first = "/", ...others] = directories;
  return others.reduce(commonDirectory, first);
}

function commonDirectory(one: string, other: string): string {
  let common = one;
  while (isOutside(common, other)) common = dirname(common);
  return common;
}

function isOutside(directory: string, path: string): boolean {
  return relative(directory, path).startsWith("..");
}
