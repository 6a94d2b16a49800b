/**
 * Why a text or a message is rejected: a plain object, since the functions of this package never
 * throw.
 */
export interface UriError {
  /**
   * The kind of the error, for programs.
   *
   * Two codes never come from a parser: `reserved-key` comes from `composeName` (N-60), and
   * `node-field` from `nodeContextParams` (N-62). `too-deep` occurs only as a cause (N-17).
   */
  readonly code:
    | "scheme"
    | "authority-marker"
    | "authority"
    | "type-missing"
    | "type-invalid"
    | "percent-encoding"
    | "utf8"
    | "control-character"
    | "fragment-in-name"
    | "directive-unknown"
    | "directive-duplicate"
    | "directive-empty"
    | "directive-value"
    | "query-in-file"
    | "too-deep"
    | "reserved-key"
    | "node-field";
  /** The part of the name or locator with the error; `text` if the parts are not known yet. */
  readonly part: "text" | "scheme" | "authority" | "type" | "id" | "context" | "directives";
  /**
   * The index in the text at which the error begins, in UTF-16 units; 0 if the input was not a
   * text.
   */
  readonly position: number;
  /** The code, the input (escaped, at most 100 characters of it) and what to do. */
  readonly message: string;
  /** The id of the broken rule in the rule book, such as `"N-08"`. */
  readonly rule: string;
  /**
   * The error of the locator inside an `alt` directive. Its position is an index in the decoded
   * value.
   */
  readonly cause?: UriError;
}

/** The code of an error. */
export type UriErrorCode = UriError["code"];

/** The part of a name or locator that an error is about. */
export type UriPart = UriError["part"];

/** The result of a parser. */
export type ParseResult<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: UriError };

/** The advice for an error, and the broken rule. */
interface Advice {
  readonly text: string;
  readonly rule: string;
}

const advice: Readonly<Record<UriErrorCode, Advice>> = {
  scheme: {
    text: "begin with xdstp:, or in a locator with http: or file:, in lower case",
    rule: "N-01",
  },
  "authority-marker": { text: "write // after the scheme", rule: "N-02" },
  authority: {
    text: "http needs an authority and file has none: http://authority/type/id, file:///path",
    rule: "N-20",
  },
  "type-missing": {
    text: "no resource type in the path: write //authority/type/id",
    rule: "N-08",
  },
  "type-invalid": { text: "a resource type has only letters, digits and . - _ ~", rule: "N-08" },
  "percent-encoding": {
    text: "write two hex digits after %, and %25 for a percent sign",
    rule: "N-05",
  },
  utf8: { text: "not valid UTF-8", rule: "N-06" },
  "control-character": { text: "escape control characters", rule: "N-04" },
  "fragment-in-name": {
    text: "a name has no #directives; escape a literal # as %23",
    rule: "N-18",
  },
  "directive-unknown": {
    text: "unknown fragment component: write #alt=locator or #entry=name, escape commas as %2C",
    rule: "N-14",
  },
  "directive-duplicate": { text: "write each directive once", rule: "N-15" },
  "directive-empty": { text: "a directive needs a value", rule: "N-16" },
  "directive-value": { text: "the value of alt is not a locator", rule: "N-17" },
  "query-in-file": {
    text: "a file locator has no parameters; escape a literal ? as %3F",
    rule: "N-19",
  },
  "too-deep": { text: "at most 8 levels of alt", rule: "N-17" },
  "reserved-key": { text: "keys that begin with xds. are set by code only", rule: "N-60" },
  "node-field": { text: "no such node field; write it as in the proto, with _", rule: "N-62" },
};

/**
 * Why a text cannot be parsed, without the message: a caller that only needs to know whether a text
 * is a name has no use for one.
 */
export interface UriFault extends Pick<UriError, "code" | "part" | "position"> {
  /** The text that the message quotes. */
  readonly text: string;
  /** The broken rule, if it is not the usual one of the code. */
  readonly rule?: string;
  readonly cause?: UriFault;
}

/** Creates a fault at a position of a text. */
export function fault(
  code: UriErrorCode,
  part: UriPart,
  text: string,
  position: number,
  more?: Pick<UriFault, "rule" | "cause">,
): UriFault {
  return { code, part, text, position, ...more };
}

/** Returns the result of a parser that has read a value, or found a fault. */
export function resultOf<T extends object>(read: T | UriFault): ParseResult<T> {
  return "code" in read ? { ok: false, error: uriErrorOf(read) } : { ok: true, value: read };
}

/** Creates the error of a fault. */
export function uriErrorOf({ code, part, text, position, rule, cause }: UriFault): UriError {
  const { text: hint, rule: usual } = advice[code];
  const error = {
    code,
    part,
    position,
    message: `[${code}] at ${position} of ${quote(text)}: ${hint}`,
    rule: rule ?? usual,
  };
  return cause === undefined ? error : { ...error, cause: uriErrorOf(cause) };
}

const shownLength = 100;

/** Quotes a text in printable ASCII only, so that it cannot forge lines of a log or a terminal. */
function quote(text: string): string {
  const shown = text.length > shownLength ? `${text.slice(0, shownLength)}...` : text;
  return JSON.stringify(shown).replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
