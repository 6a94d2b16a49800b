import type { JsonValue } from "@bufbuild/protobuf";
import { dump } from "js-yaml";
import { escapeYaml } from "./short-text.ts";

/** The number of characters of a text from which it is quoted here. js-yaml checks each text with regular expressions, and a longer one overflows their stack. */
const longText = 10_000;
/** Control characters except line ends and tabs, and format characters, which could reverse the direction of a line. */
const unseen = /[^\P{C}\n\t]/u;

/**
 * Returns JSON as YAML for people. Long texts, and texts with control characters, are written in double quotes on one line, so the YAML always has the meaning of the JSON.
 * If js-yaml cannot write a value, such as a name of many megabytes, it is written as JSON, which is also valid YAML.
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

/** Returns a word that does not occur in the value. */
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
