import type { JsonValue } from "@bufbuild/protobuf";
import type { JsonPath } from "../../folder-problem.ts";
import { fieldOf } from "../../json-reason.ts";

/** Returns the fields whose values a dump does not show. */
export function redactedFields(json: JsonValue, path: JsonPath = []): readonly string[] {
  if (typeof json !== "object" || json === null) return isRedacted(json) ? [fieldOf(path)] : [];
  if (Array.isArray(json))
    return json.flatMap((item, index) => redactedFields(item, [...path, index]));
  return Object.entries(json).flatMap(([key, value]) => redactedFields(value, [...path, key]));
}

/** Returns true if a dump hides a part of the value. Envoy writes `[redacted]` in its place, in base64 for fields of bytes. */
export function isRedacted(json: JsonValue): boolean {
  if (json === "[redacted]" || json === "W3JlZGFjdGVkXQ==") return true;
  return typeof json === "object" && json !== null && Object.values(json).some(isRedacted);
}
