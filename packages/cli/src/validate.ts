import { checkFolder, formatProblem, type FolderProblem } from "@xdstp/folder";
import type { CliIo } from "./cli-io.ts";
import { jsonText } from "./json-text.ts";
import { loadRegistry } from "./load-registry.ts";

/** What `xdstp validate` was asked to do. */
export interface ValidateOptions {
  readonly dir: string;
  readonly failOn: "error" | "warning";
  /** Files with descriptor sets. */
  readonly descriptors: readonly string[];
  /** Empty: those that the folder has. */
  readonly authorities: readonly string[];
  readonly json: boolean;
}

/** Shows what is wrong with a folder. Returns the exit code. */
export async function validate(options: ValidateOptions, io: CliIo): Promise<number> {
  const { dir, descriptors, authorities, failOn, json } = options;
  const { problems, warnings, resources, files } = await checkFolder({
    dir,
    registry: await loadRegistry(descriptors),
    ...(authorities.length > 0 && { authorities }),
  });
  const found = [
    ...problems.map((problem) => ({ severity: "error", ...problem }) as const),
    ...warnings.map((problem) => ({ severity: "warning", ...problem }) as const),
  ].sort(byPlace);
  io.stdout.write(
    json
      ? `${jsonText({ dir, files, resources: resources.length, problems: found }, { indent: 2 })}\n`
      : [
          ...found.map(lineOf),
          `${count(resources.length, "resource")} in ${count(files, "file")}: ${count(problems.length, "error")}, ${count(warnings.length, "warning")}\n`,
        ].join("\n"),
  );
  return problems.length > 0 || (failOn === "warning" && warnings.length > 0) ? 1 : 0;
}

type Found = FolderProblem & { readonly severity: "error" | "warning" };

/** The form that editors and forges read: `file:line:column: severity: message`. */
function lineOf({ severity, message, ...problem }: Found): string {
  return formatProblem({ ...problem, message: `${severity}: ${message}` });
}

function byPlace(a: Found, b: Found): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);
}

function count(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? "" : "s"}`;
}
