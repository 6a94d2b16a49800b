import { dirname, relative, resolve } from "node:path";
import { parseLocator } from "@xdstp/uri";
import { CliError } from "./cli-error.ts";

/** Returns the directory that contains the files of all these names, of which there is at least one. Throws a CliError for a name that is not one of a file. */
export function directoryOfNames(names: readonly string[]): string {
  const [first = "/", ...others] = names.map((name) => dirname(pathOf(name)));
  return others.reduce(commonDirectory, first);
}

function pathOf(name: string): string {
  const parsed = parseLocator(name);
  if (parsed.ok) return resolve("/", parsed.value.id);
  throw new CliError(
    2,
    `${JSON.stringify(name)} is not a name of a file, such as file:///etc/xds/web.yaml: ${parsed.error.message}`,
    { rule: "C-NFILE-1" },
  );
}

function commonDirectory(one: string, other: string): string {
  let common = one;
  while (isOutside(common, other)) common = dirname(common);
  return common;
}

function isOutside(directory: string, path: string): boolean {
  return relative(directory, path).startsWith("..");
}
