import { join } from "node:path";
import type { Put } from "@xdstp/core";
import type { Candidate } from "./candidate.ts";
import { candidatesInBinary } from "./candidates-in-binary.ts";
import { candidatesInDocument } from "./candidates-in-document.ts";
import { documentsOf } from "./documents-of.ts";
import { Fault, type FolderProblem, located, reasonOf } from "./folder-problem.ts";
import { extensions, type Place, placeOf } from "./place.ts";
import type { PathStep } from "@xdstp/validate";
import { findPosition, type Position } from "./find-position.ts";
import { jsonPathOf } from "./json-path-of.ts";
import type { FolderContext, ResourceFault } from "./folder-context.ts";
import { type FileReference, referencesIn } from "./foreign-references.ts";
import { severityOf } from "./problem-codes.ts";
import type { ResourcePlace } from "./resource-lines.ts";
import { resourceFromCandidate } from "./resource-from-candidate.ts";

/** A resource of a file. */
export interface FilePut extends Put {
  /** The place of the resource in the file. Absent: the format of the file has no places. */
  readonly place?: ResourcePlace;
  /** true: clients reject the content of the resource, and a problem of the file gives the reason. */
  readonly isFaulty?: true;
}

/** The content of a file. */
export interface FileContent {
  readonly puts: readonly FilePut[];
  readonly problems: readonly FolderProblem[];
  /** Problems that do no harm, or that are allowed. */
  readonly warnings: readonly FolderProblem[];
  readonly references: readonly FileReference[];
}

/** Receives an error that was thrown. */
type Report = (error: unknown) => void;

/**
 * Reads the bytes of one file, whose path below the folder is given as segments.
 * Never throws an error for any content of a file: each invalid document or resource is a problem, with line and column if the format has them.
 */
export function readFile(
  segments: readonly string[],
  bytes: Uint8Array,
  context: FolderContext,
): FileContent {
  const problems: FolderProblem[] = [];
  const warnings: FolderProblem[] = [];
  const source = { text: "" };
  const report: Report = (error) =>
    problems.push(problemOf(error, join(context.dir, ...segments), source.text));
  const puts = each([segments], report, () => {
    const place = placeOf(segments, context);
    if (place.format !== "binary") source.text = textOf(bytes);
    else if (bytes.length === 0) throw empty();
    const candidates =
      place.format === "binary"
        ? candidatesInBinary(bytes, place)
        : candidatesInText(source.text, place, context, report);
    return each(candidates, report, (candidate): readonly FilePut[] => {
      const put = {
        ...resourceFromCandidate(candidate, place, context),
        ...(hasPlaces(place) && { place: placeOfCandidate(candidate) }),
      };
      const faults = faultsOf(put, candidate, source.text, context);
      for (const fault of faults)
        (isServed(fault, context) ? warnings : problems).push({
          file: join(context.dir, ...segments),
          ...fault,
        });
      const isGood = faults.every((fault) => isServed(fault, context));
      return [isGood ? put : { ...put, isFaulty: true }];
    });
  });
  return {
    puts,
    problems,
    warnings,
    references: referencesIn(
      puts,
      { file: join(context.dir, ...segments), text: source.text },
      context,
    ),
  };
}

function hasPlaces({ format }: Place): boolean {
  return format === "yaml" || format === "json";
}

/** The place of the only resource of a file. Most files have one, so they share this object. */
const wholeFile: ResourcePlace = { document: 0, path: [] };

/** Returns the place of a resource. If it has a wrapper, this is the place of the wrapper. */
function placeOfCandidate({ document, path, facts }: Candidate): ResourcePlace {
  const own = facts === undefined ? path : path.slice(0, -1);
  return document === 0 && own.length === 0 ? wholeFile : { document, path: own };
}

function isServed({ code }: Pick<ResourceFault, "code">, { allow }: FolderContext): boolean {
  return severityOf(code) === "warning" || allow.has(code);
}

/** Returns the problems that the check of a resource finds, with their positions in the text. */
export function faultsOf(
  put: Put,
  candidate: Candidate,
  text: string,
  { check }: FolderContext,
): readonly Omit<FolderProblem, "file">[] {
  return (check?.(put) ?? []).map(({ path, ...fault }) => ({
    ...positionOf(candidate, path, text),
    ...fault,
  }));
}

function positionOf(
  { content, document, path }: Candidate,
  steps: readonly PathStep[],
  text: string,
): Partial<Position> {
  if (!("json" in content)) return {};
  return findPosition(text, document, [...path, ...jsonPathOf(content.json, steps)]) ?? {};
}

/** Returns the text of a file without a byte order mark. Throws a fault for bytes that are not UTF-8. */
export function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Fault({
      code: "not-utf-8",
      message: "is not UTF-8",
      hint: `save it as UTF-8; the extensions that are read are ${extensions}`,
    });
  }
}

function candidatesInText(
  text: string,
  place: Place,
  context: FolderContext,
  report: Report,
): readonly Candidate[] {
  const documents = documentsOf(text, place, context);
  if (documents.length === 0) throw empty();
  const alone = documents.length === 1;
  return each(documents, report, (document) =>
    located(() => candidatesInDocument(document, alone, place, context), {
      document: document.index,
      path: [],
    }),
  );
}

/** Returns the fault for an empty file. Programs empty a file before they fill it, so it is not read as an empty message. */
export function empty(): Fault {
  return new Fault({
    code: "empty-file",
    message: "is empty",
    hint: "write the resource, at least {}, or delete the file",
  });
}

export function each<T, R>(
  items: readonly T[],
  report: Report,
  run: (item: T) => readonly R[],
): readonly R[] {
  return items.flatMap((item) => {
    try {
      return run(item);
    } catch (error) {
      report(error);
      return [];
    }
  });
}

/** Returns a thrown error as a problem of a file with this text. */
export function problemOf(error: unknown, file: string, text: string): FolderProblem {
  if (!(error instanceof Fault))
    return { file, code: "unreadable-file", message: `cannot be read: ${reasonOf(error)}` };
  const { document = 0, path, line, column, code, message, rule, hint } = error.details;
  const position =
    path && line === undefined ? findPosition(text, document, path) : { line, column };
  return { file: error.details.file ?? file, ...known({ ...position, rule, hint }), code, message };
}

/** Returns an object without the parts that are `undefined`. */
function known<T extends object>(parts: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
