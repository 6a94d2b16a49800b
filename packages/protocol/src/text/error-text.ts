import { cutText } from "./cut-text.ts";

// All patterns take time in proportion to the text: what may repeat without bound differs in its first character.

/** A private key in PEM or of PGP, also one that is cut off, and however its lines end. */
const key =
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[^]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)/g;
/** The name of a field that holds a secret, or may hold one, and what stands between it and the value, in JSON, YAML, headers and the text format of protobuf. */
const name =
  /(?:inline_?(?:string|bytes)|password|passphrase|secret|token(?!_?bucket)|(?:private|json|api)[-_]?key|credentials?|authorization)\w{0,40}["'\\]{0,4}\s{0,8}[:=]\s{0,80}\\?/;
/** On the line of the name. */
const here = /(?<=[:=][ \t]{0,80}\\?)/;
/** What looks like further names, in front of the value. */
const names = /(?:[^\s,}{["'][^\s,}]*[:=][ \t]+)*/;
const quoted = /"(?:[^"\\]|\\[^])*(?:"|$)|'[^']*(?:'|$)/;
const list = /\[(?:"(?:[^"\\]|\\[^])*(?:"|$)|[^\]"])*(?:\]|$)/;
/** A block of YAML: the lines that are indented like its first one; where the text has lost its lines, all the rest. */
const block =
  /[|>][-+\d]{0,2}[ \t]*(?:(?:\r?\n[ \t]*(?=\r?\n))*\r?\n(?<indent>[ \t]+)[^\n]*(?:\r?\n(?:\k<indent>[^\n]*|[ \t]*(?=\r?\n)))*|[^\n]*)/;
/** A word, behind the scheme of an `authorization`. On a line below the name it may be the next name; and validators say `value must be`. */
const plain = new RegExp(
  `(?:${here.source}|(?![-\\w"'\\\\]{1,80}\\s{0,8}[:=]))(?!(?:value|embedded)\\s)(?:(?:bearer|basic|digest|negotiate|token|apikey)[ \\t]{1,8})?[^\\s,}{["'][^\\s,}]*`,
);
const field = new RegExp(
  `(${name.source})(?:${here.source}${names.source})?(?:${[quoted, list, block, plain].map(({ source }) => source).join("|")})`,
  "gi",
);
const bearer = /\b(bearer|basic)[ \t]{1,8}[\w.~+/=-]{16,}/gi;

/**
 * The text of a peer's error: its beginning (S-ACK-15), without keys and passwords (B-CSDS-7). Clients print in it what they have rejected; from here it goes to logs, status and other clients.
 * @param atMost - UTF-16 units
 */
export function errorText(text: string, atMost: number): string {
  return cutText(text, atMost)
    .replace(key, "[redacted]")
    .replace(field, '$1"[redacted]"')
    .replace(bearer, "$1 [redacted]");
}
