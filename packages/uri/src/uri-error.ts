/**
 * Why a text is not a name, or not a locator.
 *
 * The last two never come from a parser: `reserved-key` from `composeName` (N-60), `node-field` from `nodeContextParams` (N-62).
 * `too-deep` occurs only as a cause (N-17).
 */
export type UriErrorCode =
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

/** The part of a name or locator that an error is about. `text` where the parts are not known yet. */
export type UriPart = "text" | "scheme" | "authority" | "type" | "id" | "context" | "directives";

/** Why something is rejected: a plain object, nothing is ever thrown. */
export interface UriError {
  /** The kind of error in the text. */
  readonly code: UriErrorCode;
  /** The part of the text that breaks it. */
  readonly part: UriPart;
  /** Index in the text, in UTF-16 units, where the offence begins. 0 where the input was not a text. */
  readonly position: number;
  /** Names the code, the input (escaped, at most 100 characters of it) and the way out. */
  readonly message: string;
  /** The id of the broken rule, as in the rule book: `"N-08"`. */
  readonly rule: string;
  /** The error of the locator inside an `alt` directive; its position counts in the decoded value. */
  readonly cause?: UriError;
}

/** What a parser gives. */
export type ParseResult<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: UriError };
