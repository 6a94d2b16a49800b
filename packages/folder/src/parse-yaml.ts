import { CORE_SCHEMA, intCoreTag, loadAll, YAMLException, type Schema } from "js-yaml";
import { LineCounter, parseAllDocuments } from "yaml";
import { Fault, reasonOf } from "./fault.ts";
import { MAX_DEPTH, tooDeep } from "./too-deep.ts";
import { findNumber } from "./find-position.ts";

/** Texts up to this length are parsed again for a good message and an exact position. */
const maxExactLength = 2_000_000;

/** An integer that a number cannot hold would silently become another one. */
const exactInt: typeof intCoreTag = {
  ...intCoreTag,
  resolve: (source, explicit, tag) => {
    const value = intCoreTag.resolve(source, explicit, tag);
    if (typeof value === "number" && !Number.isSafeInteger(value)) rejectInexact(source, value);
    return value;
  },
};
const schema: Schema = CORE_SCHEMA.withTags(exactInt);

/**
 * The documents of a YAML text, by YAML 1.2: no merge keys, no dates, duplicate keys rejected. An empty text has none.
 * Throws a fault with a position for a text that is not YAML, and for an integer that a number cannot hold exactly.
 */
export function parseYaml(text: string): readonly unknown[] {
  try {
    return loadAll(text, { schema, maxDepth: MAX_DEPTH + 1 });
  } catch (error) {
    if (error instanceof Fault)
      throw new Fault({ ...error.details, ...findNumber(text, error.details.number ?? "") });
    if (error instanceof YAMLException && error.reason.includes("maxDepth"))
      throw tooDeep({
        ...(error.mark && { line: error.mark.line + 1, column: error.mark.column + 1 }),
      });
    throw exactFault(text) ?? roughFault(error);
  }
}

function rejectInexact(source: string, value: number): void {
  if (/^[-+]?\d+$/.test(source) && BigInt(source) === BigInt(value)) return;
  throw new Fault({
    message: "an integer is larger than a number of YAML and JSON holds exactly",
    hint: "put it in quotes",
    number: source,
  });
}

function exactFault(text: string): Fault | undefined {
  if (text.length > maxExactLength) return undefined;
  const lineCounter = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter, prettyErrors: false });
  const error =
    "empty" in documents ? undefined : documents.flatMap((document) => document.errors)[0];
  if (error === undefined) return undefined;
  const { line, col } = lineCounter.linePos(error.pos[0]);
  return new Fault({
    message: `is not valid YAML: ${withoutContent(error.message)}`,
    line,
    column: col,
  });
}

/** The parsers name anchors and tags: what begins with `*` or `!` may be a password without its quotes. Line and column say where it stands. */
function withoutContent(reason: string): string {
  return reason
    .replace(
      /^(?:unidentified alias|Unresolved alias).*$/s,
      "an alias has no anchor; put a text that begins with * in quotes",
    )
    .replace(/^(unknown \w+ tag|Unresolved tag).*$/s, "$1; put a text that begins with ! in quotes")
    .replace(
      /^(tag name cannot contain such characters|undeclared tag handle|Could not resolve tag).*$/s,
      "$1; put a text that begins with ! in quotes",
    );
}

function roughFault(error: unknown): Fault {
  if (!(error instanceof YAMLException))
    return new Fault({ message: `is not valid YAML: ${reasonOf(error)}` });
  const { mark, reason } = error;
  return new Fault({
    message: `is not valid YAML: ${withoutContent(reason)}`,
    ...(mark && { line: mark.line + 1, column: mark.column + 1 }),
  });
}
