import { CORE_SCHEMA, intCoreTag, loadAll, mergeTag, type Schema, YAMLException } from "js-yaml";
import { exactYaml } from "./exact-yaml.ts";
import { Fault, MAX_DEPTH, reasonOf, tooDeep } from "./folder-problem.ts";
import { findNumber, type Position } from "./find-position.ts";
import { mayLoseContent } from "./json-loss.ts";

/** Returns the value of a JSON text. Throws a fault with a position for invalid JSON, nesting that is too deep, a key that occurs twice in one object, and an integer that a number cannot represent exactly. */
export function parseJson(text: string): unknown {
  rejectDepth(text);
  const value = parse(text);
  if (!mayLoseContent(text)) return value;
  rejectLoss(text);
  return value;
}

/** Throws a fault with a position for invalid JSON and for nesting that is too deep. */
export function rejectFaultyJson(text: string): void {
  rejectDepth(text);
  parse(text);
}

/** Throws a fault for nesting that is too deep, before the text is parsed. The recursion of the parsers is as deep as the nesting. */
function rejectDepth(text: string): void {
  let depth = 0;
  let isString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (isString && character === "\\") at++;
    else if (character === '"') isString = !isString;
    else if (isString) continue;
    else if (character === "[" || character === "{") depth++;
    else if (character === "]" || character === "}") depth--;
    if (depth > MAX_DEPTH) throw tooDeep(lineAndColumn(text, at));
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const message = reasonOf(error)
      .replace(/ in JSON at position .*/s, "")
      .replace(/, "?\.{0,3}".*/s, "");
    throw new Fault({
      code: "syntax",
      message: `is not valid JSON: ${message}`,
      ...lineAndColumn(text, offsetOf(text, reasonOf(error))),
    });
  }
}

/** Throws a fault for equal keys and inexact integers. `JSON.parse` silently keeps the last of two equal keys and rounds large integers; the YAML parser, which also reads JSON, reports both. */
function rejectLoss(text: string): void {
  try {
    parseYaml(text);
  } catch (error) {
    if (!(error instanceof Fault) || !/unique|duplicated|exactly/.test(error.message)) return;
    throw new Fault({
      ...error.details,
      message: error.details.message.replace("is not valid YAML: ", ""),
    });
  }
}

function offsetOf(text: string, message: string): number {
  const position = /at position (\d+)/.exec(message)?.[1];
  if (position !== undefined) return Number(position);
  return message.startsWith("Unexpected token") ? unexpectedToken(text) : text.length;
}

/** Finds the position of an error that has none: the end of the shortest prefix with the same error. */
function unexpectedToken(text: string): number {
  let good = 0;
  let bad = text.length;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (hasUnexpectedToken(text.slice(0, middle))) bad = middle;
    else good = middle;
  }
  return bad - 1;
}

function hasUnexpectedToken(text: string): boolean {
  try {
    JSON.parse(text);
    return false;
  } catch (error) {
    return reasonOf(error).startsWith("Unexpected token");
  }
}

function lineAndColumn(
  text: string,
  offset: number,
): { readonly line: number; readonly column: number } {
  const lines = text.slice(0, offset).split("\n");
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

/** The number of characters of the longest text that is parsed again for a good message and an exact position. */
const maxExactLength = 2_000_000;

/** Rejects an integer that a number cannot represent, which would silently become another one. */
const exactInt: typeof intCoreTag = {
  ...intCoreTag,
  resolve: (source, explicit, tag) => {
    const value = intCoreTag.resolve(source, explicit, tag);
    if (typeof value === "number" && !Number.isSafeInteger(value)) rejectInexact(source, value);
    return value;
  },
};
const schema: Schema = CORE_SCHEMA.withTags(exactInt);
const mergingSchema: Schema = schema.withTags(mergeTag);

/**
 * Returns the documents of a YAML text by YAML 1.2: without merge keys and dates, and duplicate keys are rejected. An empty text has no documents.
 * Throws a fault with a position for invalid YAML, and for an integer that a number cannot represent exactly.
 * @param options - `mergesKeys`: whether the key `<<` merges another object, as programs for YAML 1.1 do. Default: false.
 */
export function parseYaml(
  text: string,
  { mergesKeys = false }: { readonly mergesKeys?: boolean } = {},
): readonly unknown[] {
  try {
    return loadAll(text, {
      schema: mergesKeys ? mergingSchema : schema,
      maxDepth: MAX_DEPTH + 1,
    });
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
    code: "inexact-number",
    message: "an integer is larger than a number of YAML and JSON holds exactly",
    hint: "put it in quotes",
    number: source,
  });
}

function exactFault(text: string): Fault | undefined {
  if (text.length > maxExactLength) return undefined;
  const { LineCounter, parseAllDocuments } = exactYaml();
  const lineCounter = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter, prettyErrors: false });
  const error =
    "empty" in documents ? undefined : documents.flatMap((document) => document.errors)[0];
  if (error === undefined) return undefined;
  return yamlFault(error, (offset) => {
    const { line, col } = lineCounter.linePos(offset);
    return { line, column: col };
  });
}

/** Returns an error of the exact parser as a fault with its position. */
export function yamlFault(
  { message, pos }: { readonly message: string; readonly pos: readonly [number, number] },
  positionAt: (offset: number) => Position,
): Fault {
  return new Fault({
    code: "syntax",
    message: `is not valid YAML: ${withoutContent(message)}`,
    ...positionAt(pos[0]),
  });
}

/** Removes the names of anchors and tags from a parser's error. A text that begins with `*` or `!` may be a password without quotes. Line and column show its place. */
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
    return new Fault({ code: "syntax", message: `is not valid YAML: ${reasonOf(error)}` });
  const { mark, reason } = error;
  return new Fault({
    code: "syntax",
    message: `is not valid YAML: ${withoutContent(reason)}`,
    ...(mark && { line: mark.line + 1, column: mark.column + 1 }),
  });
}
