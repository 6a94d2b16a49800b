import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { XdsError } from "@xdstp/core";

/** A spot in a configuration: where that is from, and the path to the value. */
export interface Place {
  /** A file, a variable or an argument, for people. */
  readonly source: string;
  /** Like `xds_servers[0].server_uri`; empty: the whole. */
  readonly path: string;
  /** What the whole is called. Default: the bootstrap. */
  readonly whole?: string;
}

/** A value and where it stands. */
export interface Placed<T> {
  readonly value: T;
  readonly place: Place;
}

/** An error that names the source, the path, and what is wrong and would be right. */
export function wrongAt(
  { source, path, whole = "the bootstrap" }: Place,
  problem: string,
  rule?: string,
): XdsError {
  const text = `${source}: ${path === "" ? whole : path} ${problem}`;
  return new XdsError("INVALID_ARGUMENT", text, { rule });
}

/** The value of a field; undefined where it is absent or null. */
export function field(
  { value, place }: Placed<JsonObject>,
  name: string,
): Placed<JsonValue> | undefined {
  const found = value[name];
  return found === undefined || found === null
    ? undefined
    : {
        value: found,
        place: { ...place, path: place.path === "" ? name : `${place.path}.${name}` },
      };
}

/** The entries of an object, with a place each. */
export function entries({
  value,
  place,
}: Placed<JsonObject>): readonly (readonly [string, Placed<JsonValue>])[] {
  return Object.entries(value).map(([key, entry]) => [
    key,
    { value: entry, place: { ...place, path: `${place.path}[${JSON.stringify(key)}]` } },
  ]);
}

/** The items of an array, with a place each. */
export function items({
  value,
  place,
}: Placed<readonly JsonValue[]>): readonly Placed<JsonValue>[] {
  return value.map((item, index) => ({
    value: item,
    place: { ...place, path: `${place.path}[${index}]` },
  }));
}

/** Takes an object, or throws. */
export function asObject({ value, place }: Placed<JsonValue>): Placed<JsonObject> {
  if (typeof value !== "object" || value === null || isArray(value))
    throw wrongAt(place, `is ${kindOf(value)}; it must be an object`);
  return { value, place };
}

/** Takes an array, or throws. */
export function asArray({ value, place }: Placed<JsonValue>): Placed<readonly JsonValue[]> {
  if (!isArray(value)) throw wrongAt(place, `is ${kindOf(value)}; it must be an array`);
  return { value, place };
}

/** A field that is an object, or absent. */
export function objectIn(object: Placed<JsonObject>, name: string): Placed<JsonObject> | undefined {
  const found = field(object, name);
  return found === undefined ? undefined : asObject(found);
}

/** The items of a field that is an array; none where it is absent. */
export function itemsIn(object: Placed<JsonObject>, name: string): readonly Placed<JsonValue>[] {
  const found = field(object, name);
  return found === undefined ? [] : items(asArray(found));
}

/** A field that is a string, or absent. */
export function stringIn(object: Placed<JsonObject>, name: string): string | undefined {
  const found = field(object, name);
  if (found === undefined || typeof found.value === "string")
    return found?.value as string | undefined;
  throw wrongAt(found.place, `is ${kindOf(found.value)}; it must be a string`);
}

/** A field that is a boolean; false where it is absent. */
export function booleanIn(object: Placed<JsonObject>, name: string): boolean {
  const found = field(object, name);
  if (found === undefined || typeof found.value === "boolean") return found?.value === true;
  throw wrongAt(found.place, `is ${kindOf(found.value)}; it must be true or false`);
}

/** A field that must be there. */
export function required<T>(
  found: T | undefined,
  { place }: Placed<JsonObject>,
  name: string,
  what: string,
): T {
  if (found === undefined) throw wrongAt(place, `has no ${name}; give ${what}`);
  return found;
}

function kindOf(value: JsonValue): string {
  if (value === null) return "null";
  if (isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function isArray(value: JsonValue): value is JsonValue[] {
  return Array.isArray(value);
}

/** A spot further in. */
export function inside({ path, ...place }: Place, ...steps: readonly (string | number)[]): Place {
  return {
    ...place,
    path: steps.reduce<string>(
      (way, step) =>
        typeof step === "number"
          ? `${way}[${step}]`
          : [way, step].filter((part) => part !== "").join("."),
      path,
    ),
  };
}

/** The error of what is there and has no meaning here yet. */
export function unsupportedAt({ source, path }: Place, problem: string): XdsError {
  return new XdsError("UNIMPLEMENTED", `${source}: ${path} ${problem}`);
}
