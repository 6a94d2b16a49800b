import type { UriError, UriErrorCode, UriPart } from "./uri-error.ts";

/** What is wrong and the way out, per code. */
const advice: Readonly<Record<UriErrorCode, string>> = {
  scheme: "begin with xdstp:, or in a locator with http: or file:, in lower case (N-01)",
  "authority-marker": "write // after the scheme (N-02)",
  authority:
    "http needs an authority and file has none: http://authority/type/id, file:///path (N-19, N-20)",
  "type-missing": "no resource type in the path: write //authority/type/id (N-08)",
  "type-invalid": "a resource type has only letters, digits and . - _ ~ (N-08)",
  "percent-encoding": "write two hex digits after %, and %25 for a percent sign (N-05)",
  utf8: "not valid UTF-8 (N-06)",
  "control-character": "escape control characters (N-04)",
  "fragment-in-name": "a name has no #directives; escape a literal # as %23 (N-18)",
  "directive-unknown":
    "unknown fragment component: write #alt=locator or #entry=name, escape commas as %2C (N-14)",
  "directive-duplicate": "write each directive once (N-15)",
  "directive-empty": "a directive needs a value (N-16, N-17)",
  "directive-value": "the value of alt is not a locator (N-17)",
  "query-in-file": "a file locator has no parameters; escape a literal ? as %3F (N-19)",
  "too-deep": "at most 8 levels of alt (N-17)",
  "reserved-key": "keys that begin with xds. are set by code only (N-60)",
  "node-field": "no such node field; write it as in the proto, with _ (N-62)",
};

const shownLength = 100;

/** The error object. `text` is quoted in its message. */
export function fault(
  code: UriErrorCode,
  part: UriPart,
  text: string,
  position: number,
  cause?: UriError,
): UriError {
  const message = `[${code}] at ${position} of ${quote(text)}: ${advice[code]}`;
  return cause === undefined
    ? { code, part, position, message }
    : { code, part, position, message, cause };
}

/** Printable ASCII only, so that nothing in a log or a terminal can be forged. */
function quote(text: string): string {
  const shown = text.length > shownLength ? `${text.slice(0, shownLength)}...` : text;
  return JSON.stringify(shown).replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
