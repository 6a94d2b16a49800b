import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { XdsError } from "@xdstp/core";

/** A place in a configuration: its source, and the path to the value. */
export interface Place {
  /** A file, a variable or an argument, for display. */
  readonly source: string;
  /** A path such as `xds_servers[0].server_uri`. Empty: the whole configuration. */
  readonly path: string;
  /** The name of the whole configuration. Default: the bootstrap. */
  readonly whole?: string;
}

/** A value and its place. */
export interface Placed<T> {
  readonly value: T;
  readonly place: Place;
}

/** Returns an error with the source, the path, the problem and the way to fix it. */
export function wrongAt(
  { source, path, whole = "the bootstrap" }: Place,
  problem: string,
  rule?: string,
): XdsError {
  const text = `${source}: ${path === "" ? whole : path} ${problem}`;
  return new XdsError("INVALID_ARGUMENT", text, { rule });
}

/** Returns the value of a field, or `undefined` if it is absent or null. */
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

/** Returns the entries of an object, each with its place. */
export function entries({
  value,
  place,
}: Placed<JsonObject>): readonly (readonly [string, Placed<JsonValue>])[] {
  return Object.entries(value).map(([key, entry]) => [
    key,
    { value: entry, place: { ...place, path: `${place.path}[${JSON.stringify(key)}]` } },
  ]);
}

/** Returns the items of an array, each with its place. */
export function items({
  value,
  place,
}: Placed<readonly JsonValue[]>): readonly Placed<JsonValue>[] {
  return value.map((item, index) => ({
    value: item,
    place: { ...place, path: `${place.path}[${index}]` },
  }));
}

/** Returns the value as an object, or throws. */
export function asObject({ value, place }: Placed<JsonValue>): Placed<JsonObject> {
  if (typeof value !== "object" || value === null || isArray(value))
    throw wrongAt(place, `is ${kindOf(value)}; it must be an object`);
  return { value, place };
}

/** Returns the value as an array, or throws. */
export function asArray({ value, place }: Placed<JsonValue>): Placed<readonly JsonValue[]> {
  if (!isArray(value)) throw wrongAt(place, `is ${kindOf(value)}; it must be an array`);
  return { value, place };
}

/** Returns a field as an object, or `undefined` if it is absent. */
export function objectIn(object: Placed<JsonObject>, name: string): Placed<JsonObject> | undefined {
  const found = field(object, name);
  return found === undefined ? undefined : asObject(found);
}

/** Returns the items of an array in a field. None if it is absent. */
export function itemsIn(object: Placed<JsonObject>, name: string): readonly Placed<JsonValue>[] {
  const found = field(object, name);
  return found === undefined ? [] : items(asArray(found));
}

/** Returns a field as a string, or `undefined` if it is absent. */
export function stringIn(object: Placed<JsonObject>, name: string): string | undefined {
  const found = field(object, name);
  if (found === undefined || typeof found.value === "string")
    return found?.value as string | undefined;
  throw wrongAt(found.place, `is ${kindOf(found.value)}; it must be a string`);
}

/** Returns a field as a boolean. False if it is absent. */
export function booleanIn(object: Placed<JsonObject>, name: string): boolean {
  const found = field(object, name);
  if (found === undefined || typeof found.value === "boolean") return found?.value === true;
  throw wrongAt(found.place, `is ${kindOf(found.value)}; it must be true or false`);
}

/** Returns a value, or throws if it is absent. */
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

/** Returns a place inside of another one. */
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

/** Returns the error for a value that is not supported yet. */
export function unsupportedAt({ source, path }: Place, problem: string): XdsError {
  return new XdsError("UNIMPLEMENTED", `${source}: ${path} ${problem}`);
}
