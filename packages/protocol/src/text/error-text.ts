import { cutText } from "./cut-text.ts";

// All patterns take linear time: repetitions without a bound begin with different characters, so
// there is no backtracking between them.

/** A private key in PEM or PGP format, with any line ends, also if it is cut off. */
const key =
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[^]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)/g;
/**
 * The name of a field that may hold a secret, and the characters between it and the value: in JSON,
 * YAML, headers and the text format of protobuf.
 */
const name =
  /(?:inline_?(?:string|bytes)|password|passphrase|secret|token(?!_?bucket)|(?:private|json|api)[-_]?key|credentials?|authorization)\w{0,40}["'\\]{0,4}\s{0,8}[:=]\s{0,80}\\?/;
/** Matches a position on the line of the name. */
const here = /(?<=[:=][ \t]{0,80}\\?)/;
/** Text before the value that looks like further names. */
const names = /(?:[^\s,}{["'][^\s,}]*[:=][ \t]+)*/;
const quoted = /"(?:[^"\\]|\\[^])*(?:"|$)|'[^']*(?:'|$)/;
const list = /\[(?:"(?:[^"\\]|\\[^])*(?:"|$)|[^\]"])*(?:\]|$)/;
/**
 * A block of YAML: the lines that are indented like its first line. If the text has lost its line
 * breaks, everything that follows.
 */
const block =
  /[|>][-+\d]{0,2}[ \t]*(?:(?:\r?\n[ \t]*(?=\r?\n))*\r?\n(?<indent>[ \t]+)[^\n]*(?:\r?\n(?:\k<indent>[^\n]*|[ \t]*(?=\r?\n)))*|[^\n]*)/;
/**
 * A word, possibly after the scheme of an `authorization`. On a line below the name it may be the
 * next name, which does not match; neither do the messages of validators, such as `value must be`.
 */
const plain = new RegExp(
  `(?:${here.source}|(?![-\\w"'\\\\]{1,80}\\s{0,8}[:=]))(?!(?:value|embedded)\\s)(?:(?:bearer|basic|digest|negotiate|token|apikey)[ \\t]{1,8})?[^\\s,}{["'][^\\s,}]*`,
);
const field = new RegExp(
  `(${name.source})(?:${here.source}${names.source})?(?:${[quoted, list, block, plain].map(({ source }) => source).join("|")})`,
  "gi",
);
const bearer = /\b(bearer|basic)[ \t]{1,8}[\w.~+/=-]{16,}/gi;

/**
 * Returns the beginning of the text of a peer's error (S-ACK-15), without keys and passwords
 * (B-CSDS-7). Clients print rejected configuration into it, and the text goes to logs, status and
 * other clients.
 * @param atMost - The greatest length in UTF-16 units before keys are replaced
 */
export function errorText(text: string, atMost: number): string {
  return cutText(text, atMost)
    .replace(key, "[redacted]")
    .replace(field, '$1"[redacted]"')
    .replace(bearer, "$1 [redacted]");
}
