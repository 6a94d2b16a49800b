/** The subject of an error; each member is present if it is known. */
export interface XdsErrorContext {
  /** The type URL of the resource. */
  readonly typeUrl?: string;
  /** The name of the resource. */
  readonly resource?: string;
  /** The node id that the client sent. */
  readonly nodeId?: string;
  /** The nonce of the response. */
  readonly nonce?: string;
  /**
   * The kind of the error, for programs: they should never read the text. Absent: the code is
   * enough.
   */
  readonly reason?:
    /**
     * Kinds of errors that programs tell apart.
     *
     * - `late`: no server reported it; the resource has not come in time (C-MISS-4).
     * - `left-out`: the same, but the server has sent all there is of the type meanwhile, without it.
     * - `missing`: the server has no such resource, and gave no reason.
     * - `no-entry`: a list collection has no inline entry of that name (C-LIST-7).
     * - `no-alternative`: neither the resource nor its alternative exists (C-ALT-2).
     * - `rejected`: a reader rejected what the server sent.
     * - `restored`: the resource next to it is from a snapshot, and no server has answered or
     *   failed yet (B-RELAY-9).
     */
    | ("late" | "left-out" | "missing" | "no-entry" | "no-alternative" | "rejected" | "restored")
    | undefined;
  /**
   * The id of the broken rule in the rule book, such as `"B-TYPE-5"`. Absent: the error does not
   * belong to a single rule.
   */
  readonly rule?: string | undefined;
  /** The text of the error as an upstream server gave it; a relay passes it on (B-RELAY-13). */
  readonly said?: string;
  /** The value that was thrown first; also the `cause` of the error. */
  readonly cause?: unknown;
}

const brand = Symbol.for("@xdstp/XdsError");

/**
 * The error class of these packages: why a resource is rejected or is not available, or why a
 * stream failed.
 *
 * `message` begins with `[CODE]`; {@link XdsError.text} is the same text without the code.
 * `instanceof` works across two installed copies of this package.
 */
export class XdsError extends Error {
  /** Always `XdsError`, unless a subclass names itself. */
  override readonly name: string = "XdsError";
  /** The canonical status name. It decides whether a watcher keeps its resource (C-ERR-4). */
  readonly code: StatusName;
  /** The message without its code. */
  readonly text: string;
  /** The subject of the error. */
  readonly context: XdsErrorContext;

  constructor(code: StatusName, text: string, context: XdsErrorContext = {}) {
    super(`[${code}] ${text}`, "cause" in context ? { cause: context.cause } : undefined);
    this.code = code;
    this.text = text;
    this.context = context;
    Object.defineProperty(this, brand, { value: true });
  }

  /** Returns true for an error of any installed copy of this package. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === "object" && value !== null && brand in value;
  }

  /**
   * Converts a thrown value to an XdsError. An XdsError is returned as it is; other values become
   * INTERNAL with their own text.
   */
  static from(value: unknown): XdsError {
    if (value instanceof XdsError) return value;
    const text = value instanceof Error ? value.message : String(value);
    return new XdsError("INTERNAL", text, { cause: value });
  }
}

/**
 * Returns true if an error was only concluded from a missing response (C-MISS-4): no server
 * reported it.
 */
export function isLate({ context: { reason } }: XdsError): boolean {
  return reason === "late" || reason === "left-out";
}

/**
 * Returns true if two errors are the same to those that receive them (S-ERR-1): equal code, and
 * equal text as the server reported it.
 */
export function isSameError(first: XdsError | undefined, second: XdsError | undefined): boolean {
  return first?.code === second?.code && reportedText(first) === reportedText(second);
}

function reportedText(error: XdsError | undefined): string | undefined {
  return error?.context.said ?? error?.text;
}

/** The reason for a rejection, from which the caller makes an error. */
export interface Fault {
  /** A text for people with the problem and the action to take. */
  readonly text: string;
  /** The id of the broken rule, for `context.rule` of the error. Absent: the fault does not belong to a single rule. */
  readonly rule?: string | undefined;
}

/**
 * The status codes of gRPC by name. A stream ends with one of them; `google.rpc.Status` in `error_detail` and `resource_errors` carries the same numbers.
 *
 * @see https://grpc.github.io/grpc/core/md_doc_statuscodes.html
 */
export const StatusCode = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;

/** The name of a status code, as in {@link XdsError.code}. */
export type StatusName = keyof typeof StatusCode;

/**
 * The status with which a call ended. `message` is for people; a peer is sent a fixed text, never
 * one that another peer or a bug chose (S-STREAM-7).
 */
export interface Status {
  /** The number, one of {@link StatusCode}. */
  readonly code: number;
  /** A text for people. Empty: there is none. */
  readonly message: string;
}

const names: ReadonlyMap<number, StatusName> = new Map(
  Object.entries(StatusCode).map(([name, code]) => [code, name as StatusName]),
);

/** Returns the name of a status code. undefined: it is not a status code. */
export function statusNameOf(code: number): StatusName | undefined {
  return names.get(code);
}
