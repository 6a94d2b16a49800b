import { statSync } from "node:fs";
import {
  checkBootstrap,
  checkFolder,
  formatProblem,
  type FolderProblem,
  type ProblemCode,
} from "@xdstp/folder";
import { allowedCodes } from "./allowed-codes.ts";
import type { CliIo } from "./cli-io.ts";
import { jsonText } from "./json-text.ts";
import { loadRegistry } from "./load-registry.ts";

/** What `xdstp validate` was asked to do. */
export interface ValidateOptions {
  /** A folder, or a bootstrap of Envoy. */
  readonly path: string;
  readonly failOn: "error" | "warning";
  /** Codes of problems that are warnings. */
  readonly allow: readonly string[];
  /** Files with descriptor sets. */
  readonly descriptors: readonly string[];
  /** Empty: those that the folder has. */
  readonly authorities: readonly string[];
  readonly json: boolean;
}

/** Shows what is wrong with a folder or a bootstrap. Returns the exit code. */
export async function validate(options: ValidateOptions, io: CliIo): Promise<number> {
  const { path, failOn, json } = options;
  const allow = allowedCodes(options.allow);
  const { problems, warnings, counted } = withAllowed(await check(options), allow);
  const found = [
    ...problems.map((problem) => ({ severity: "error", ...problem }) as const),
    ...warnings.map((problem) => ({ severity: "warning", ...problem }) as const),
  ].sort(byPlace);
  io.stdout.write(
    json
      ? `${jsonText({ path, ...counted, problems: found }, { indent: 2 })}\n`
      : [
          ...found.map(lineOf),
          `${countedText(counted)}: ${count(problems.length, "error")}, ${count(warnings.length, "warning")}\n`,
        ].join("\n"),
  );
  return problems.length > 0 || (failOn === "warning" && warnings.length > 0) ? 1 : 0;
}

/** What was read; of a bootstrap nothing is counted. */
interface Checked {
  readonly problems: readonly FolderProblem[];
  readonly warnings: readonly FolderProblem[];
  readonly counted: { readonly files: number; readonly resources?: number };
}

/** What is allowed is a warning. */
function withAllowed(
  { problems, warnings, counted }: Checked,
  allow: readonly ProblemCode[],
): Checked {
  const isAllowed = ({ code }: FolderProblem): boolean => allow.includes(code);
  return {
    problems: problems.filter((problem) => !isAllowed(problem)),
    warnings: [...problems.filter(isAllowed), ...warnings],
    counted,
  };
}

async function check({ path, descriptors, authorities }: ValidateOptions): Promise<Checked> {
  const registry = await loadRegistry(descriptors);
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === true)
    return { ...(await checkBootstrap({ file: path, registry })), counted: { files: 1 } };
  const { resources, files, ...found } = await checkFolder({
    dir: path,
    registry,
    ...(authorities.length > 0 && { authorities }),
  });
  return { ...found, counted: { files, resources: resources.length } };
}

function countedText({ files, resources }: Checked["counted"]): string {
  if (resources === undefined) return "1 bootstrap";
  return `${count(resources, "resource")} in ${count(files, "file")}`;
}

type Found = FolderProblem & { readonly severity: "error" | "warning" };

/** The form that editors and forges read, with the code as compilers show the name of a warning: `file:line:column: severity: message (hint) [code rule]`. */
function lineOf({ severity, message, ...problem }: Found): string {
  const rule = problem.rule === undefined ? problem.code : `${problem.code} ${problem.rule}`;
  return formatProblem({ ...problem, message: `${severity}: ${message}`, rule });
}

function byPlace(a: Found, b: Found): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);
}

function count(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? "" : "s"}`;
}
