import type { DescField, DescMessage, JsonObject, JsonValue, Registry } from "@bufbuild/protobuf";
import { isObject } from "./documents-of.ts";

/**
 * Returns a message in the JSON form of protobuf, from one in the forms that Envoy reads in its own configuration too: one value in the place of a list of one, and a Duration as `{ seconds, nanos }`.
 * Resources that come over xDS are encoded, so these forms exist in files of Envoy only.
 */
export function asEnvoyReads(json: JsonObject, desc: DescMessage, registry: Registry): JsonObject {
  const fields = new Map(
    desc.fields.flatMap((one) => [
      [one.name, one],
      [one.jsonName, one],
    ]),
  );
  return Object.fromEntries(
    Object.entries(json).map(([key, value]) => {
      const field = fields.get(key);
      return [key, field === undefined ? value : fieldValue(value, field, registry)];
    }),
  );
}

function fieldValue(value: JsonValue, field: DescField, registry: Registry): JsonValue {
  if (value === null) return value;
  const one = (item: JsonValue): JsonValue =>
    field.message === undefined ? item : messageValue(item, field.message, registry);
  if (field.fieldKind === "list") return (Array.isArray(value) ? value : [value]).map(one);
  if (field.fieldKind !== "map") return one(value);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, one(item)]));
}

function messageValue(value: JsonValue, desc: DescMessage, registry: Registry): JsonValue {
  if (!isObject(value)) return value;
  if (desc.typeName === "google.protobuf.Duration") return durationText(value);
  if (desc.typeName === "google.protobuf.Any") {
    const typeUrl = value["@type"];
    const held =
      typeof typeUrl === "string" ? registry.getMessage(typeUrl.replace(/^.*\//, "")) : undefined;
    return held === undefined ? value : asEnvoyReads(value, held, registry);
  }
  return desc.typeName.startsWith("google.protobuf.") ? value : asEnvoyReads(value, desc, registry);
}

function durationText(value: JsonObject): JsonValue {
  const { seconds = 0, nanos = 0, ...more } = value;
  const whole = Number(seconds);
  const part = Number(nanos);
  const isDuration =
    Object.keys(more).length === 0 && Number.isInteger(whole) && Number.isInteger(part);
  if (!isDuration) return value;
  const sign = whole < 0 || part < 0 ? "-" : "";
  const fraction = part === 0 ? "" : `.${String(Math.abs(part)).padStart(9, "0")}`;
  return `${sign}${Math.abs(whole)}${fraction}s`;
}
