import type { FolderProblem } from "./folder-problem.ts";

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
