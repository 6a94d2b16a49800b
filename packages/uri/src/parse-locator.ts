import { checkText } from "./check-text.ts";
import { decode } from "./percent-encoding.ts";
import { fault, type ParseResult, resultOf, type UriFault } from "./uri-error.ts";
import type { Directive, Locator } from "./locator.ts";
import { parseResourceParts } from "./parse-name.ts";

const schemes = ["xdstp", "http", "file"] as const;
const none: readonly Directive[] = [];

/**
 * Parses an `xdstp://`, `http://` or `file://` locator (xdstp-names.md section 3).
 *
 * Never throws. The length is not limited (N-21), and the time is linear in it.
 * `https:` is rejected like any other scheme: whether TLS is used is a setting of the HTTP
 * transport (N-01).
 */
export function parseLocator(text: string): ParseResult<Locator> {
  return resultOf(parseNested(text, 0));
}

/** Parses a locator that is inside `depth` `alt` directives. */
function parseNested(text: string, depth: number): Locator | UriFault {
  if (depth > maxAltDepth) return fault("too-deep", "directives", text, 0);
  const scheme = schemes.find((candidate) => text.startsWith(`${candidate}:`));
  if (scheme === undefined) return fault("scheme", "scheme", text, 0);
  const start = scheme.length + 3;
  const bad = checkText(text, start - 2);
  if (bad !== undefined) return bad;
  const hash = text.indexOf("#", start);
  const end = hash === -1 ? text.length : hash;
  const located =
    scheme === "file" ? parseFile(text, start, end) : parseResource(scheme, text, start, end);
  if ("code" in located || hash === -1) return located;
  const directives = parseDirectives(text, hash + 1, (value) => parseNested(value, depth + 1));
  return "code" in directives ? directives : { ...located, directives };
}

function parseResource(
  scheme: "xdstp" | "http",
  text: string,
  start: number,
  end: number,
): Extract<Locator, { readonly scheme: "xdstp" | "http" }> | UriFault {
  const parts = parseResourceParts(text, start, end);
  if ("code" in parts) return parts;
  if (scheme === "http" && parts.authority === "")
    return fault("authority", "authority", text, start);
  return { scheme, ...parts, directives: none };
}

/** Parses a `file` locator, which has a path and nothing else (N-19). */
function parseFile(
  text: string,
  start: number,
  end: number,
): Extract<Locator, { readonly scheme: "file" }> | UriFault {
  const question = text.indexOf("?", start);
  if (question !== -1 && question < end) return fault("query-in-file", "context", text, question);
  if (start < end && text.charAt(start) !== "/")
    return fault("authority", "authority", text, start, { rule: "N-19" });
  const id = decode(text, Math.min(start + 1, end), end, "id");
  return typeof id === "string" ? { scheme: "file", id, directives: none } : id;
}

type ParseAlt = (text: string) => Locator | UriFault;

const names = ["alt=", "entry="] as const;

/** Parses the directives in the fragment that begins at `start`, after the `#` (N-14). `parseAlt` parses the locator of an `alt`. */
function parseDirectives(
  text: string,
  start: number,
  parseAlt: ParseAlt,
): readonly Directive[] | UriFault {
  const directives: Directive[] = [];
  for (let from = start, to; from <= text.length; from = to + 1) {
    const comma = text.indexOf(",", from);
    to = comma === -1 ? text.length : comma;
    const directive = parseDirective(text, from, to, parseAlt);
    if ("code" in directive) return directive;
    if (directives.some(({ kind }) => kind === directive.kind))
      return fault("directive-duplicate", "directives", text, from);
    directives.push(directive);
  }
  return directives;
}

function parseDirective(
  text: string,
  from: number,
  to: number,
  parseAlt: ParseAlt,
): Directive | UriFault {
  const name = names.find((candidate) => text.startsWith(candidate, from));
  if (name === undefined) return fault("directive-unknown", "directives", text, from);
  const start = from + name.length;
  if (start >= to)
    return fault("directive-empty", "directives", text, from, {
      rule: name === "alt=" ? "N-17" : "N-16",
    });
  const value = decode(text, start, to, "directives");
  if (typeof value !== "string") return value;
  if (name === "entry=") return { kind: "entry", entry: value };
  const alt = parseAlt(value);
  return "code" in alt
    ? fault("directive-value", "directives", text, start, { cause: alt })
    : { kind: "alt", locator: alt };
}

/** The greatest number of nested `alt` directives in a locator (N-17). */
export const maxAltDepth = 8;
