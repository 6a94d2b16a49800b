import { type DescMessage, type JsonObject, type JsonValue, toJson } from "@bufbuild/protobuf";
import { fromText } from "@bufbuild/protobuf/txtpb";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { DiscoveryResponseSchema, ResourceSchema } from "@xdstp/protos/discovery";
import {
  Fault,
  type JsonPath,
  located,
  MAX_DEPTH,
  quote,
  reasonOf,
  tooDeep,
} from "./folder-problem.ts";
import type { FolderContext } from "./folder-context.ts";
import { parseJson, parseYaml } from "./parse-document.ts";
import type { Place } from "./place.ts";
import { enumHint } from "./closest.ts";

/** One document of a file. */
export interface ReadDocument {
  /** A message, or the text of a locator. */
  readonly json: JsonObject | string;
  /** The number of the document in the text, from 0. Empty YAML documents count. */
  readonly index: number;
}

/**
 * Returns the documents of a text file in the JSON form of protobuf, with sorted keys. YAML may have several documents; those without content are left out.
 * Throws a fault for a text that cannot be parsed, and for a document that is neither an object nor the text of a locator.
 */
export function documentsOf(
  text: string,
  place: Place,
  context: FolderContext,
): readonly ReadDocument[] {
  return values(text, place, context).flatMap((value, index) => {
    const json = located(() => canonicalJson(value, maxValuesOf(text)), {
      document: index,
      path: [],
    });
    if (json === null) return [];
    if (isObject(json) || isLocatorText(json)) return [{ json, index }];
    throw new Fault({
      code: "not-a-message",
      message: `holds ${kindOf(json)} where a message is expected`,
      document: index,
      path: [],
      hint: Array.isArray(json)
        ? "write resources: above the list, or each resource into a file of its own, as xdstp import envoy FILE DIR does with the static resources of Envoy"
        : "write the fields of the resource as keys",
    });
  });
}

/** Returns the largest number of values in a document. A text without YAML aliases has fewer values than characters. */
function maxValuesOf(text: string): number {
  return 100_000 + 4 * text.length;
}

function values(text: string, place: Place, context: FolderContext): readonly unknown[] {
  if (text.trim() === "") return [];
  if (place.format === "yaml") return parseYaml(text);
  if (place.format === "json") return [parseJson(text)];
  return [parseText(text, place, context)];
}

function kindOf(json: JsonValue): string {
  return Array.isArray(json) ? "a list" : `a ${typeof json}`;
}

/** Reads a file in text format. Its type is that of the folder, unless it is an expanded `Any` or has the usual comment `# proto-message: TYPE`. */
function parseText(text: string, place: Place, context: FolderContext): JsonValue {
  const { registry } = context;
  const content = text.replaceAll(/^[ \t]*#.*$/gm, "").trim();
  if (isLocatorAlone(content)) return content;
  const stated = /^[ \t]*#[ \t]*proto-message:[ \t]*(\S+)/m.exec(text)?.[1];
  const desc =
    stated === undefined ? defaultSchema(content, place) : schemaOf(stated, place, context);
  try {
    const json = toJson(desc, fromText(desc, text, { registry }), {
      registry,
      useProtoFieldName: true,
    });
    return isObject(json) && stated !== undefined ? { ...json, "@type": stated } : json;
  } catch (error) {
    const reason = shownReason(error);
    const [, word = "", name = ""] =
      /^unknown enum value "(.*)" for enum (\S+)$/.exec(reason) ?? [];
    const hint = enumHint(name, word, registry);
    throw new Fault({
      code: "syntax",
      message: `is not a valid ${stated ?? typeNameOf(desc, place)} in text format: ${reason}`,
      ...(hint !== undefined && { hint }),
    });
  }
}

/** Returns the error of a reader of text format without the value that it found, which may be a secret. */
export function shownReason(error: unknown): string {
  return reasonOf(error).replace(/, got .*$/s, "");
}

/** Returns true if a text is only a locator. In text format, `http: {}` is a field. */
function isLocatorAlone(text: string): boolean {
  return /^(?:xdstp|http|file):\/\S*$/.test(text);
}

/** Returns the type of a text that does not have one itself. `content`: the text without comments. */
function defaultSchema(content: string, place: Place): DescMessage {
  return content.startsWith("[") ? AnySchema : place.type.desc;
}

/** Returns the name of a type for errors. All list collections are decoded with one descriptor, so their name is taken from the folder. */
function typeNameOf(desc: DescMessage, { type }: Place): string {
  return desc === type.desc ? type.name : desc.typeName;
}

function schemaOf(name: string, { type }: Place, context: FolderContext): DescMessage {
  if (name === type.name) return type.desc;
  if (name === ResourceSchema.typeName) return ResourceSchema;
  if (name === DiscoveryResponseSchema.typeName) return DiscoveryResponseSchema;
  const desc = context.registry.getMessage(name);
  if (desc === undefined)
    throw new Fault({
      code: "unknown-type",
      message: `the type ${quote(name)} after "# proto-message:" is not known`,
      rule: "B-TYPE-1",
    });
  return desc;
}

/** Returns true if a JSON value is an object, and not an array or null. */
export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns true if a value in a file is the text of a locator, as TP1 writes it. */
export function isLocatorText(value: JsonValue | undefined): value is string {
  return typeof value === "string" && /^(?:xdstp|http|file):/.test(value);
}

/**
 * Returns the same value with sorted keys in all objects. Protobuf writes a map in the order of the object, so equal content results in equal bytes, whatever the order in the file (S-VER-4).
 * Throws a fault for more than `maxValues` values, which a few YAML aliases can make of a small file, and for nesting that is too deep, which aliases can make of a flat file.
 */
export function canonicalJson(value: unknown, maxValues: number): JsonValue {
  return sorted(value, { left: maxValues, path: [] });
}

interface Budget {
  left: number;
  /** The path of the current value. */
  readonly path: (string | number)[];
}

function sorted(value: unknown, budget: Budget): JsonValue {
  if (--budget.left < 0) {
    throw new Fault({
      code: "too-large",
      message: "becomes enormous once its aliases are resolved",
      hint: "write fewer aliases (*name)",
      path: upToFirstItem(budget.path),
    });
  }
  if (Array.isArray(value)) return sortedList(value, budget);
  if (typeof value !== "object" || value === null) return value as JsonValue;
  return sortedObject(value as Readonly<Record<string, unknown>>, budget);
}

/** Returns the path up to the first item of a list. Deeper steps may be in the content of an alias, which is written elsewhere in the file. */
function upToFirstItem(path: JsonPath): JsonPath {
  const item = path.findIndex((step) => typeof step === "number");
  return item === -1 ? path : path.slice(0, item + 1);
}

/** Returns the list itself if nothing in it changes, since a copy of a large file takes hundreds of megabytes. */
function sortedList(list: readonly unknown[], budget: Budget): JsonValue {
  const items = list.map((item, at) => inside(item, at, budget));
  return (items.every((item, at) => item === list[at]) ? list : items) as JsonValue;
}

/** Returns the object itself if its keys are in order and nothing in it changes. */
function sortedObject(object: Readonly<Record<string, unknown>>, budget: Budget): JsonValue {
  const keys = Object.keys(object);
  const isSorted = keys.every((key, at) => at === 0 || byKey(keys[at - 1] ?? "", key) < 0);
  if (!isSorted) keys.sort(byKey);
  const values = keys.map((key) => inside(object[key], key, budget));
  if (isSorted && values.every((item, at) => item === object[keys[at] ?? ""]))
    return object as JsonValue;
  return Object.fromEntries(keys.map((key, at) => [key, values[at] ?? null]));
}

function inside(value: unknown, step: string | number, budget: Budget): JsonValue {
  const { path } = budget;
  path.push(step);
  if (path.length > MAX_DEPTH) throw tooDeep({ path: [...path] });
  const json = sorted(value, budget);
  path.pop();
  return json;
}

/** Compares keys by code points, which is also the order of their UTF-8 bytes. */
function byKey(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const difference = rank(a.charCodeAt(i)) - rank(b.charCodeAt(i));
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** Returns the rank of a UTF-16 unit. Surrogates are ranked above all other units. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
