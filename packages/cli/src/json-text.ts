import type { JsonValue } from "@bufbuild/protobuf";
import { dump } from "js-yaml";
import { escapeJson, escapeYaml } from "./short-text.ts";

/** The version of what `--json` writes, of every command. It grows when a field is removed or changes its meaning; a new field does not change it. */
const JSON_SCHEMA = 1;

/** One object of `--json` as text: the version of its form first, control characters escaped (S-ACK-15). Its moments are in ISO 8601; `replacer`, as `JSON.stringify` calls it, may make them so. */
export function jsonText(
  content: object,
  {
    indent,
    replacer,
  }: {
    readonly indent?: number;
    readonly replacer?: (key: string, value: unknown) => unknown;
  } = {},
): string {
  return escapeJson(JSON.stringify({ schema: JSON_SCHEMA, ...content }, replacer, indent));
}

/** Longer texts overflow the stack of js-yaml, which looks at each with regular expressions. */
const longText = 10_000;
/** Control characters but for line ends and tabs, and format characters, which could turn the direction of a line. */
const unseen = /[^\P{C}\n\t]/u;

/**
 * JSON as YAML for people. Texts that are long, or hold characters that a terminal obeys, are in double quotes, on one line and whole; so the YAML always means the same as the JSON.
 * What js-yaml cannot write, such as a name of many megabytes, is written as JSON, which is YAML too.
 */
export function yamlText(json: JsonValue): string {
  const quoted: string[] = [];
  const mark = markFor(json);
  const marked = withMarks(
    json,
    (text) => `${mark}${quoted.push(escapeYaml(JSON.stringify(text))) - 1}.`,
  );
  try {
    const yaml = dump(marked, { lineWidth: -1, noRefs: true });
    return quoted.length === 0
      ? yaml
      : yaml.replaceAll(
          new RegExp(`${mark}(\\d+)\\.`, "g"),
          (_, index: string) => quoted[Number(index)] ?? "",
        );
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return `${escapeYaml(JSON.stringify(json, undefined, 2))}\n`;
  }
}

/** A word that stands nowhere in the value. */
function markFor(json: JsonValue): string {
  const text = JSON.stringify(json);
  let mark = "quoted-text-";
  while (text.includes(mark)) mark = `${mark}${Math.random().toString(36).slice(2)}-`;
  return mark;
}

function withMarks(json: JsonValue, quote: (text: string) => string): JsonValue {
  if (typeof json === "string") return needsQuotes(json) ? quote(json) : json;
  if (Array.isArray(json)) return json.map((item) => withMarks(item, quote));
  if (typeof json !== "object" || json === null) return json;
  const entries = Object.entries(json).map(
    ([key, value]) =>
      [
        unseen.test(key) && key.length <= longText ? quote(key) : key,
        withMarks(value, quote),
      ] as const,
  );
  return Object.fromEntries(entries);
}

function needsQuotes(text: string): boolean {
  return text.length > longText || unseen.test(text);
}
