import { escapeJson } from "./short-text.ts";

/** The schema version of the `--json` output of all commands. It increases when a field is removed or gets another meaning. New fields do not change it. */
const JSON_SCHEMA = 1;

/** Returns one object of `--json` as text. The field `schema` comes first, and control characters are escaped (S-ACK-15). Times have to be in ISO 8601; the caller converts them itself or with `replacer`, which is passed to `JSON.stringify`. */
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
