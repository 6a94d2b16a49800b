import type { DescField, DescMessage, JsonObject, JsonValue, Registry } from "@bufbuild/protobuf";
import { fromJson } from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { typeNameFromUrl } from "../type-url.ts";
import type { JsonStep } from "./resource-json-error.ts";

const maxSteps = 100;

/**
 * The way to the first value that keeps `json` from being read as an Any; empty where no single value is to blame.
 *
 * Reads each part by itself again, so it is for failures only. Stops after 100 steps, as the reader does (B-LIM-5). @internal
 */
export function pathOfJsonError(json: JsonObject, registry: Registry): readonly JsonStep[] {
  return pathIn(AnySchema, json, registry, maxSteps);
}

function pathIn(
  desc: DescMessage,
  json: JsonValue,
  registry: Registry,
  steps: number,
): readonly JsonStep[] {
  if (!isObject(json) || steps <= 0) return [];
  if (desc.typeName === AnySchema.typeName) return pathInAny(json, registry, steps);
  // The well-known types have a JSON form of their own, which is good or bad as a whole.
  if (isWellKnown(desc)) return [];
  const key = Object.keys(json).find((name) =>
    fails(desc, { [name]: json[name] ?? null }, registry),
  );
  if (key === undefined) return [];
  return [key, ...pathInField(desc, key, json[key] ?? null, registry, steps - 1)];
}

function pathInAny(json: JsonObject, registry: Registry, steps: number): readonly JsonStep[] {
  const { "@type": typeUrl, ...fields } = json;
  if (typeof typeUrl !== "string") return ["@type"];
  const desc = registry.getMessage(typeNameFromUrl(typeUrl));
  if (desc === undefined) return ["@type"];
  if (!isWellKnown(desc) || fields.value === undefined)
    return pathIn(desc, fields, registry, steps);
  return ["value", ...pathIn(desc, fields.value, registry, steps - 1)];
}

function pathInField(
  parent: DescMessage,
  key: string,
  json: JsonValue,
  registry: Registry,
  steps: number,
): readonly JsonStep[] {
  const field = parent.fields.find(({ name, jsonName }) => name === key || jsonName === key);
  if (field === undefined) return [];
  const inside = (step: JsonStep, value: JsonValue): readonly JsonStep[] => [
    step,
    ...pathInValue(field, value, registry, steps - 1),
  ];
  if (field.fieldKind === "list" && Array.isArray(json)) {
    const index = json.findIndex((element) => fails(parent, { [key]: [element] }, registry));
    return index < 0 ? [] : inside(index, json[index] ?? null);
  }
  if (field.fieldKind === "map" && isObject(json)) {
    const name = Object.keys(json).find((entry) =>
      fails(parent, { [key]: { [entry]: json[entry] ?? null } }, registry),
    );
    return name === undefined ? [] : inside(name, json[name] ?? null);
  }
  return pathInValue(field, json, registry, steps);
}

function pathInValue(
  field: DescField,
  json: JsonValue,
  registry: Registry,
  steps: number,
): readonly JsonStep[] {
  return field.message === undefined ? [] : pathIn(field.message, json, registry, steps);
}

function isWellKnown(desc: DescMessage): boolean {
  return desc.typeName.startsWith("google.protobuf.");
}

function fails(desc: DescMessage, json: JsonObject, registry: Registry): boolean {
  try {
    fromJson(desc, json, { registry });
    return false;
  } catch {
    return true;
  }
}

function isObject(json: JsonValue): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
