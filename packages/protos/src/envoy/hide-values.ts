import type { Registry } from "@bufbuild/protobuf";

const value = /( got |from JSON:? )(string|".*"|-?[\d.e+-]+n?|-?Infinity|NaN|true|false)$/s;
const outOfRange = /: [^:]* out of range$/s;
const unknownKey = /^cannot decode message (\S+) from JSON: key ".*" is unknown$/s;

/** A reason of the JSON reader that names the kind of what was found in place of the value (B-CSDS-7). @internal */
export function hideValues(reason: string): string {
  return reason
    .replace(outOfRange, ": a number out of range")
    .replace(value, (_, before: string, found: string) => before + kindOf(found));
}

/** The reason for a key that is unknown, without the key, which may be a value in the wrong place; undefined: the reason is another one. @internal */
export function hideKey(reason: string, registry: Registry): string | undefined {
  const name = unknownKey.exec(reason)?.[1];
  if (name === undefined) return undefined;
  const fields = registry.getMessage(name)?.fields.map((field) => field.name) ?? [];
  return `a key is unknown; the fields of ${name} are ${fields.join(", ")}`;
}

function kindOf(found: string): string {
  if (found === "true" || found === "false") return "a boolean";
  return found === "string" || found.startsWith('"') ? "a text" : "a number";
}
