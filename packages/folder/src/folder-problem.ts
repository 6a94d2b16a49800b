import type { ProblemCode } from "./problem-codes.ts";

/** What is wrong with a file or a folder, for people. */
export interface FolderProblem {
  /** The file or folder, as the folder was given, for instance `config/example.com/clusters/web.yaml`. */
  readonly file: string;
  /** Counted from 1; present where the format has lines: YAML and JSON. */
  readonly line?: number;
  /** Counted from 1, in characters. */
  readonly column?: number;
  /** What kind of problem it is, for programs: stable, and explained on a page of its own. */
  readonly code: ProblemCode;
  /** What the input is and what is wrong with it; one line. */
  readonly message: string;
  /** The rule it breaks, for instance `N-50`, where there is one. */
  readonly rule?: string;
  /** The way out, where the message does not say it. */
  readonly hint?: string;
}

/** One problem as one line of text: `file:line:column: message (hint) [rule]`. Parts that are not known are left out, control characters are shown as `\\u{1b}`. */
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

/** Where in a document: keys and indexes from its root. */
export type JsonPath = readonly (string | number)[];

/** A problem whose file is not known yet, and whose position may be a path that is still to be looked up. */
export interface FaultDetails extends Omit<FolderProblem, "file"> {
  /** Instead of the file at hand. */
  readonly file?: string;
  /** The document of a YAML file; 0 is the first one. */
  readonly document?: number;
  /** Looked up in the text for line and column. */
  readonly path?: JsonPath;
  /** Looked up too: a number as it is written. */
  readonly number?: string;
}

/** Thrown inside this package by whatever finds a file broken; it never leaves it. */
export class Fault extends Error {
  override readonly name: string = "Fault";
  readonly details: FaultDetails;

  constructor(details: FaultDetails) {
    super(details.message);
    this.details = details;
  }
}

/** The text of a thrown value. Errors of the engine and the decoder about deep recursion and truncated bytes are put into plain words. */
export function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  if (thrown instanceof RangeError && thrown.message.includes("call stack"))
    return "nests too deeply";
  return thrown.message === "premature EOF"
    ? "it is cut off: it ends inside a field"
    : thrown.message;
}

/** Where in a file something stands. */
export interface FaultPlace {
  readonly document?: number;
  readonly path: JsonPath;
}

/** Runs something whose faults count their paths from a place in the file. */
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

/** Levels of lists and objects within each other; decoders of protobuf give up at the same depth. */
export const MAX_DEPTH = 100;

/** The fault of what nests deeper, at the place where it does. */
export function tooDeep(place: Pick<FaultDetails, "line" | "column" | "path">): Fault {
  return new Fault({
    code: "too-deep",
    message: `is nested more than ${MAX_DEPTH} levels deep`,
    hint: "decoders of protobuf go no deeper",
    ...place,
  });
}

/** What keeps a file or folder from being read, with the way out where it is known. The text of an error that has the path in it is left out: what is written in the place of a path may be a secret. */
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

/** Whether it is for want of permission. */
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

/** A text as it is shown in a message: in quotes, control characters escaped, cut to 100 characters. */
export function quote(text: string): string {
  const cut = text.length > limit ? `${text.slice(0, limit)}...` : text;
  return JSON.stringify(cut).replaceAll("\\\\", "\\");
}

/** Longer keys than any field has are cut. */
const keyLimit = 64;

/** A key as it is shown in a message: the letters, digits and `_.@-` that it begins with. Any file that is linked into the folder may be taken for YAML, and its content must not reach the log. */
export function shownKey(key: string): string {
  const shown = /^[A-Za-z0-9_.@-]*/.exec(key)?.[0].slice(0, keyLimit) ?? "";
  return shown === key ? key : `${shown}...`;
}
