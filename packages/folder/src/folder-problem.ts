import type { ProblemCode } from "./problem-codes.ts";

/** A problem of a file or folder, for people. */
export interface FolderProblem {
  /** The path of the file or folder, which begins as the folder was given, for instance `config/example.com/clusters/web.yaml`. */
  readonly file: string;
  /** The line, from 1. Only YAML and JSON have lines. */
  readonly line?: number;
  /** The column in characters, from 1. */
  readonly column?: number;
  /** The kind of problem, for programs. Codes are stable, and each is explained on a page of its own. */
  readonly code: ProblemCode;
  /** One line that says what is wrong with which input. */
  readonly message: string;
  /** The id of the broken rule, for instance `N-50`. Absent: no rule is broken. */
  readonly rule?: string;
  /** The way out. Absent: the message says it. */
  readonly hint?: string;
}

/** Returns a problem as one line of text: `file:line:column: message (hint) [rule]`. Unknown parts are left out, and control characters are shown as `\\u{1b}`. */
export function formatProblem(problem: FolderProblem): string {
  const { file, line, column, message, rule, hint } = problem;
  const place = [file, line, line === undefined ? undefined : column]
    .filter((part) => part !== undefined)
    .join(":");
  const text = `${place}: ${message}${hint === undefined ? "" : ` (${hint})`}${rule === undefined ? "" : ` [${rule}]`}`;
  return text.replaceAll(
    /\p{Cc}/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** A path in a document: keys and indexes from its root. */
export type JsonPath = readonly (string | number)[];

/** A problem whose file is not known yet, and whose position may still have to be looked up. */
export interface FaultDetails extends Omit<FolderProblem, "file"> {
  /** The file with the problem. Absent: the file that is being read. */
  readonly file?: string;
  /** The number of the document in a YAML file, from 0. */
  readonly document?: number;
  /** The path in the text, for which line and column are looked up. */
  readonly path?: JsonPath;
  /** A number as it is written in the text, for which line and column are looked up. */
  readonly number?: string;
}

/** An error about a file. It is thrown and caught inside of this package. */
export class Fault extends Error {
  override readonly name: string = "Fault";
  readonly details: FaultDetails;

  constructor(details: FaultDetails) {
    super(details.message);
    this.details = details;
  }
}

/** Returns the text of a thrown value. Errors of the engine and the decoder about deep recursion and truncated bytes are replaced by plain words. */
export function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  if (thrown instanceof RangeError && thrown.message.includes("call stack"))
    return "nests too deeply";
  return thrown.message === "premature EOF"
    ? "it is cut off: it ends inside a field"
    : thrown.message;
}

/** A place in a file. */
export interface FaultPlace {
  readonly document?: number;
  readonly path: JsonPath;
}

/** Runs a function, and adds the place to faults that it throws. The paths of these faults start at the place. */
export function located<T>(run: () => T, place: FaultPlace): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw new Fault({
      ...place,
      ...error.details,
      path: [...place.path, ...(error.details.path ?? [])],
    });
  }
}

/** The number of levels of lists and objects inside of each other. Decoders of protobuf have the same limit. */
export const MAX_DEPTH = 100;

/** Returns the fault for values that are nested deeper, with their place. */
export function tooDeep(place: Pick<FaultDetails, "line" | "column" | "path">): Fault {
  return new Fault({
    code: "too-deep",
    message: `is nested more than ${MAX_DEPTH} levels deep`,
    hint: "decoders of protobuf go no deeper",
    ...place,
  });
}

/** Explains why a file or folder cannot be read, and what to do if that is known. The text of an error that contains the path is not shown, because text in place of a path may be a secret. */
export function fileTrouble(error: unknown): Pick<FolderProblem, "code" | "message" | "hint"> {
  const errno = error instanceof Error && "code" in error ? String(error.code) : "";
  const hasPath = error instanceof Error && "path" in error;
  const [message, hint] = troubles[errno] ?? (hasPath ? ["cannot be read"] : []);
  return message === undefined
    ? { code: "unreadable-file", message: reasonOf(error) }
    : {
        code: "unreadable-file",
        message: `${message} (${errno})`,
        ...(hint !== undefined && { hint }),
      };
}

/** Returns true if permission is missing. */
export function isForbidden(error: unknown): boolean {
  return (
    error instanceof Error && "code" in error && (error.code === "EACCES" || error.code === "EPERM")
  );
}

const noRight = ["may not be read by this user", "give it the right to"] as const;
const tooMany = [
  "cannot be read, because too many files are open",
  "raise the limit of open files: ulimit -n",
] as const;

const troubles: Readonly<Record<string, readonly [message: string, hint?: string]>> = {
  EACCES: noRight,
  EPERM: noRight,
  ELOOP: ["is a symbolic link that leads back to itself", "fix or remove the link"],
  EAGAIN: [
    "never ends, so it is not a file of configuration",
    "remove it, or begin its name with a dot",
  ],
  EMFILE: tooMany,
  ENFILE: tooMany,
  ENOENT: ["does not exist"],
  ENOTDIR: ["does not exist: a file stands where its path has a folder"],
  EISDIR: ["is a folder, not a file"],
  ENAMETOOLONG: ["has a name that is too long", "give it a shorter one"],
  ERR_INVALID_ARG_VALUE: ["is not a path"],
};

const limit = 100;

/** Returns a text as messages show it: in quotes, with escaped control characters, and cut to 100 characters. */
export function quote(text: string): string {
  const cut = text.length > limit ? `${text.slice(0, limit)}...` : text;
  return JSON.stringify(cut).replaceAll("\\\\", "\\");
}

/** The number of characters of a key that are shown. The names of fields are shorter. */
const keyLimit = 64;

/** Returns a key as messages show it: the letters, digits and `_.@-` at its beginning. Any file that is linked into the folder may be read as YAML, and its content must not be shown in the log. */
export function shownKey(key: string): string {
  const shown = /^[A-Za-z0-9_.@-]*/.exec(key)?.[0].slice(0, keyLimit) ?? "";
  return shown === key ? key : `${shown}...`;
}
