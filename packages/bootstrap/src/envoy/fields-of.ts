import { envoyRegistry } from "@xdstp/protos/envoy";

import type { JsonObject, JsonValue } from "../grpc/bootstrap.ts";
import { asObject, field, wrongAt, type Placed } from "../grpc/place.ts";
import { inside } from "./inside.ts";

/** The fields of a message in JSON, found by their proto names, whichever of its two spellings they have. */
export type Fields = (name: string) => Placed<JsonValue> | undefined;

/** Looks into the JSON of a message without reading all of it: what is not asked for may hold types that are not known here. Throws for a field that the message does not have. */
export function fieldsOf(typeName: string, json: Placed<JsonValue> | undefined): Fields {
  if (json === undefined) return () => undefined;
  const object = asObject(json);
  const known = envoyRegistry().getMessage(typeName)?.fields ?? [];
  const unknown = Object.keys(object.value).find(
    (key) => !known.some(({ name, jsonName }) => key === name || key === jsonName),
  );
  if (unknown !== undefined)
    throw wrongAt(inside(object.place, unknown), `is not a field of ${typeName}`);
  return (name) =>
    field(object, name) ?? field(object, known.find((one) => one.name === name)?.jsonName ?? name);
}

/** The object in a field. */
export function objectOf(found: Placed<JsonValue> | undefined): Placed<JsonObject> | undefined {
  return found === undefined ? undefined : asObject(found);
}
