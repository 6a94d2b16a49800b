import { Fault, reasonOf } from "./fault.ts";
import { MAX_DEPTH, tooDeep } from "./too-deep.ts";
import { parseYaml } from "./parse-yaml.ts";

/**
 * The value of a JSON text. Throws a fault with a position for a text that is not JSON or nests too deeply, a key that occurs twice in one object,
 * and an integer that a number cannot hold exactly.
 */
export function parseJson(text: string): unknown {
  rejectDepth(text);
  parse(text);
  rejectLoss(text);
  return parse(text); // Cheaper than to keep the value of a large text while the text is read as YAML.
}

/** Before anything is parsed: the parsers go as deep as the text does. */
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
      message: `is not valid JSON: ${message}`,
      ...lineAndColumn(text, offsetOf(text, reasonOf(error))),
    });
  }
}

/** `JSON.parse` keeps the last of two equal keys and rounds large integers without a word. JSON is YAML, whose parser does neither. */
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

/** This error comes without a position: it is where the shortest prefix ends that has the same error. */
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
