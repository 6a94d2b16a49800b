import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

/** Whether a JSON value is an object, neither an array nor null. */
export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
