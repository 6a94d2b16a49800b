import { decode } from "./decode.ts";
import { fault } from "./fault.ts";
import type { Directive, Locator } from "./locator.ts";
import type { UriError } from "./uri-error.ts";

type ParseAlt = (text: string) => Locator | UriError;

const names = ["alt=", "entry="] as const;

/** The directives in the fragment that begins at `start`, behind the `#` (N-14). `parseAlt` parses the locator of an `alt`. */
export function parseDirectives(
  text: string,
  start: number,
  parseAlt: ParseAlt,
): readonly Directive[] | UriError {
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
): Directive | UriError {
  const name = names.find((candidate) => text.startsWith(candidate, from));
  if (name === undefined) return fault("directive-unknown", "directives", text, from);
  const start = from + name.length;
  if (start >= to) return fault("directive-empty", "directives", text, from);
  const value = decode(text, start, to, "directives");
  if (typeof value !== "string") return value;
  if (name === "entry=") return { kind: "entry", entry: value };
  const alt = parseAlt(value);
  return "code" in alt
    ? fault("directive-value", "directives", text, start, alt)
    : { kind: "alt", locator: alt };
}
