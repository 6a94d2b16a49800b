import { escapeJson } from "./escape-text.ts";

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
