import { CORE_SCHEMA, load, YAMLException } from "js-yaml";

import type { JsonObject, JsonValue } from "../grpc/bootstrap.ts";
import { asObject, wrongAt, type Place, type Placed } from "../grpc/place.ts";

/** Decoders of protobuf go no deeper. */
const maxDepth = 100;
const maxAliases = 10_000;

/** The object in a text in YAML 1.2 or JSON. Throws an XdsError that says where it is broken, but shows nothing of it: it may be secret. */
export function parseText(text: string, place: Place): Placed<JsonObject> {
  return asObject({ value: parse(text, place), place });
}

function parse(text: string, place: Place): JsonValue {
  try {
    return load(text, { schema: CORE_SCHEMA, maxDepth, maxAliases }) as JsonValue;
  } catch (error) {
    const mark = error instanceof YAMLException ? error.mark : undefined;
    throw wrongAt(
      place,
      `is neither YAML nor JSON${mark === undefined ? "" : ` at line ${mark.line + 1} column ${mark.column + 1}`}`,
    );
  }
}
