import type { DescField, DescMessage, JsonObject, JsonValue, Registry } from "@bufbuild/protobuf";
import { isObject } from "../documents-of.ts";
import type { JsonPath } from "../folder-problem.ts";

/** A message in the JSON form of protobuf, and the one that holds it. */
export interface MessageInJson {
  readonly desc: DescMessage;
  readonly json: JsonObject;
  /** From the root of what was searched. */
  readonly path: JsonPath;
  readonly above: MessageInJson | undefined;
}

/** A message and all messages in it, also in an Any of a known type. Well-known types and the content of a Struct are left out. */
export function* messagesInJson(
  message: Omit<MessageInJson, "path" | "above"> & Partial<MessageInJson>,
  registry: Registry,
): Generator<MessageInJson> {
  const { desc, json, path = [], above } = message;
  if (desc.typeName === "google.protobuf.Any") {
    const held = heldType(json, registry);
    if (held !== undefined) yield* messagesInJson({ desc: held, json, path, above }, registry);
    return;
  }
  if (desc.typeName.startsWith("google.protobuf.")) return;
  const visited: MessageInJson = { desc, json, path, above };
  yield visited;
  for (const [key, field, value] of fieldsOf(visited)) {
    if (field.message === undefined) continue;
    for (const [step, inner] of valuesOf(field, value))
      yield* messagesInJson(
        { desc: field.message, json: inner, path: [...path, key, ...step], above: visited },
        registry,
      );
  }
}

/** The set fields of a message, with their keys as they are written. */
export function* fieldsOf({
  desc,
  json,
}: Pick<MessageInJson, "desc" | "json">): Generator<
  readonly [key: string, field: DescField, value: JsonValue]
> {
  for (const [key, value] of Object.entries(json)) {
    const field = desc.fields.find(({ name, jsonName }) => name === key || jsonName === key);
    if (field !== undefined && value !== null) yield [key, field, value];
  }
}

/** The key of a field in either spelling, by its name in the API. Where it is not set, the name. */
export function keyOf(json: JsonObject, name: string): string {
  const jsonName = name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  return Object.hasOwn(json, jsonName) ? jsonName : name;
}

/** The value of a field, by its name in the API. */
export function valueOf(json: JsonObject, name: string): JsonValue | undefined {
  return json[keyOf(json, name)];
}

/** The text in a field; empty where there is none. */
export function textOf(json: JsonObject, name: string): string {
  const value = valueOf(json, name);
  return typeof value === "string" ? value : "";
}

/** The message in a field; undefined where it is not set. */
export function objectOf(json: JsonObject, name: string): JsonObject | undefined {
  const value = valueOf(json, name);
  return isObject(value) ? value : undefined;
}

/** The messages in a repeated field. */
export function listOf(json: JsonObject | undefined, name: string): readonly JsonObject[] {
  const value = json === undefined ? undefined : valueOf(json, name);
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function heldType(json: JsonObject, registry: Registry): DescMessage | undefined {
  const typeUrl = json["@type"];
  return typeof typeUrl === "string"
    ? registry.getMessage(typeUrl.slice(typeUrl.lastIndexOf("/") + 1))
    : undefined;
}

function valuesOf(
  field: DescField,
  value: JsonValue,
): readonly (readonly [path: JsonPath, json: JsonObject])[] {
  if (Array.isArray(value))
    return value.flatMap((item, index) => (isObject(item) ? [[[index], item] as const] : []));
  if (!isObject(value)) return [];
  if (field.fieldKind !== "map") return [[[], value]];
  return Object.entries(value).flatMap(([key, item]) =>
    isObject(item) ? [[[key], item] as const] : [],
  );
}

/** The message without a field. */
export function without(json: JsonObject, name: string): JsonObject {
  const key = keyOf(json, name);
  return Object.fromEntries(Object.entries(json).filter(([one]) => one !== key));
}
