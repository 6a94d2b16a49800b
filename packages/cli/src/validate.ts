import { statSync } from "node:fs";
import {
  checkFile,
  checkFolder,
  formatProblem,
  type EnvoyAnswer,
  type FolderProblem,
  type ProblemCode,
  type ResourceClient,
} from "@xdstp/folder";
import { allowedCodes } from "./allowed-codes.ts";
import type { CliIo } from "./cli-io.ts";
import { jsonText } from "./json-text.ts";
import { loadRegistry } from "./load-registry.ts";
import { escapeJson } from "./short-text.ts";
import { type Found, sarifLog } from "./sarif.ts";
import type { askEnvoyOf } from "./validate-envoy.ts";
import { signalCodes } from "./signal-codes.ts";

/** The options of `xdstp validate`. */
export interface ValidateOptions {
  /** Folders, bootstraps of Envoy, and files of resources. */
  readonly paths: readonly string[];
  readonly failOn: "error" | "warning";
  /** The codes of problems that count as warnings. */
  readonly allow: readonly string[];
  /** The clients whose checks the resources have to pass. */
  readonly clients: readonly ResourceClient[];
  /** The paths of descriptor sets. */
  readonly descriptors: readonly string[];
  /** The authorities that are served. Empty: those of the folder. */
  readonly authorities: readonly string[];
  /** The program of an Envoy that checks too. `undefined`: none does. */
  readonly envoy?: string | undefined;
  readonly format: "text" | "json" | "sarif";
}

/** Shows the problems of folders, bootstraps and files of resources. Returns the exit code. */
export async function validate(options: ValidateOptions, io: CliIo): Promise<number> {
  const { paths, failOn, format } = options;
  const allow = allowedCodes(options.allow);
  const registry = await loadRegistry(options.descriptors);
  const checked: Checked[] = [];
  for (const path of paths) checked.push(await check(path, registry, options));
  const asked = await askedEnvoy(options, registry, io);
  if (asked !== undefined && "signal" in asked) return signalCodes[asked.signal];
  const all = asked === undefined ? checked : [...checked, { ...asked, ...nothingCounted }];
  const found = distinct(all.flatMap((one) => foundIn(one, allow))).sort(byPlace);
  const report: Report = {
    paths,
    ...(asked && {
      envoy: { version: asked.version, asked: asked.asked, notAsked: asked.notAsked },
    }),
    files: sumOf(checked, "files"),
    resources: sumOf(checked, "resources"),
    bootstraps: sumOf(checked, "bootstraps"),
    found,
  };
  io.stdout.write(formats[format](report, io));
  const failing = failOn === "warning" ? found : found.filter(isError);
  return failing.length > 0 ? 1 : 0;
}

/** The result of the real Envoy, if the options name one. Its module is loaded here, because most calls do not need it. */
async function askedEnvoy(
  options: ValidateOptions,
  registry: Awaited<ReturnType<typeof loadRegistry>>,
  io: CliIo,
): Promise<Awaited<ReturnType<typeof askEnvoyOf>>> {
  if (options.envoy === undefined) return undefined;
  const validateEnvoy = await import("./validate-envoy.ts");
  return validateEnvoy.askEnvoyOf(options, registry, io);
}

/** The result for all paths. */
interface Report {
  readonly paths: readonly string[];
  /** The number of files with resources. */
  readonly files: number;
  readonly resources: number;
  readonly bootstraps: number;
  /** Absent: no Envoy was used. */
  readonly envoy?: Pick<EnvoyAnswer, "version" | "asked" | "notAsked">;
  readonly found: readonly Found[];
}

const nothingCounted = { warnings: [], files: 0, resources: 0, bootstraps: 0 } as const;

const formats: Readonly<Record<ValidateOptions["format"], (report: Report, io: CliIo) => string>> =
  {
    text: ({ found, ...counted }) =>
      [
        ...found.map(lineOf),
        `${countedText(counted)}: ${resultText(found)}${envoyText(counted)}\n`,
      ].join("\n"),
    json: ({ found, paths: [path, ...more], ...counted }) =>
      `${jsonText(
        {
          ...(more.length === 0 ? { path } : { paths: [path, ...more] }),
          ...counted,
          problems: found,
        },
        { indent: 2 },
      )}\n`,
    sarif: ({ found }, { cwd }) =>
      `${escapeJson(JSON.stringify(sarifLog(found, cwd), undefined, 2))}\n`,
  };

interface Checked extends Pick<Report, "files" | "resources" | "bootstraps"> {
  readonly problems: readonly FolderProblem[];
  readonly warnings: readonly FolderProblem[];
}

async function check(
  path: string,
  registry: Awaited<ReturnType<typeof loadRegistry>>,
  { authorities, clients }: ValidateOptions,
): Promise<Checked> {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) {
    const { kind, resources, ...found } = await checkFile({ file: path, registry, clients });
    const isBootstrap = kind === "bootstrap";
    return { ...found, resources, files: isBootstrap ? 0 : 1, bootstraps: isBootstrap ? 1 : 0 };
  }
  const { resources, files, problems, warnings } = await checkFolder({
    dir: path,
    registry,
    clients,
    ...(authorities.length > 0 && { authorities }),
  });
  return { problems, warnings, files, resources: resources.length, bootstraps: 0 };
}

/** Returns the problems with their severity. A problem whose code is allowed is a warning. */
export function foundIn(
  { problems, warnings }: Pick<Checked, "problems" | "warnings">,
  allow: readonly ProblemCode[],
): readonly Found[] {
  return [
    ...problems.map((problem) => ({
      severity: allow.includes(problem.code) ? ("warning" as const) : ("error" as const),
      ...problem,
    })),
    ...warnings.map((problem) => ({ severity: "warning", ...problem }) as const),
  ];
}

/** Returns each problem once. Paths may overlap, such as a folder and a file in it. */
function distinct(found: readonly Found[]): Found[] {
  return [...new Map(found.map((one) => [JSON.stringify(one), one])).values()];
}

function sumOf(checked: readonly Checked[], name: "files" | "resources" | "bootstraps"): number {
  return checked.reduce((sum, one) => sum + one[name], 0);
}

/** Returns true if a problem is an error, false if it is a warning. */
export function isError({ severity }: Found): boolean {
  return severity === "error";
}

function countedText({ files, resources, bootstraps }: Omit<Report, "found">): string {
  const parts = [
    ...(files > 0 || bootstraps === 0
      ? [`${count(resources, "resource")} in ${count(files, "file")}`]
      : []),
    ...(bootstraps > 0 ? [count(bootstraps, "bootstrap")] : []),
  ];
  return parts.join(", ");
}

/** Returns a text like `; Envoy 1.40.0 has read 7 of 8`. */
function envoyText({ envoy }: Omit<Report, "found">): string {
  if (envoy === undefined) return "";
  const { version, asked, notAsked } = envoy;
  return `; Envoy ${version} has read ${notAsked === 0 ? asked : `${asked} of ${asked + notAsked}`}`;
}

function resultText(found: readonly Found[]): string {
  const errors = found.filter(isError).length;
  return `${count(errors, "error")}, ${count(found.length - errors, "warning")}`;
}

/** Returns a problem in the form that editors and code hosts read, with the code in brackets like the names of compiler warnings: `file:line:column: severity: message (hint) [code rule]`. */
export function lineOf({ severity, message, ...problem }: Found): string {
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
