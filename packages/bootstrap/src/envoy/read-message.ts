import {
  type DescMessage,
  fromBinary,
  type JsonObject,
  type JsonValue,
  type MessageShape,
} from "@bufbuild/protobuf";
import { anyFromJson, envoyRegistry, ResourceJsonError } from "@xdstp/protos/envoy";
import { typeUrlOf } from "@xdstp/resource-types";
import { CORE_SCHEMA, load, YAMLException } from "js-yaml";
import { asObject, inside, type Place, type Placed, wrongAt } from "../grpc/place.ts";

/**
 * Decodes a message from JSON. Throws an XdsError, INVALID_ARGUMENT, that names the field, and does
 * not show the value of a secret one.
 */
export function readMessage<Schema extends DescMessage>(
  schema: Schema,
  { value, place }: Placed<JsonObject>,
): MessageShape<Schema> {
  try {
    const { value: bytes } = anyFromJson(
      { ...(value as object), "@type": typeUrlOf(schema.typeName) },
      envoyRegistry(),
    );
    return fromBinary(schema, bytes);
  } catch (error) {
    if (!(error instanceof ResourceJsonError)) throw error;
    throw wrongAt(inside(place, ...error.path), plain(error.reason));
  }
}

/** Removes the type from an error of the decoder, since the path already has it. */
function plain(reason: string): string {
  const [, type, value] = /^cannot decode enum (\S+) from JSON: (.*)$/s.exec(reason) ?? [];
  if (type !== undefined) return `is ${value ?? ""}, which is not a valid ${type}`;
  if (/ key ".*" is unknown$/s.test(reason)) return "is unknown";
  return `cannot be read: ${reason.replace(/^cannot decode (?:message|field) \S+ from JSON: /, "")}`;
}

/** The depth that decoders of protobuf support. */
const maxDepth = 100;
const maxAliases = 10_000;

/**
 * Returns the object in a text in YAML 1.2 or JSON. Throws an XdsError with the position of a
 * syntax error; it shows no part of the text, which may be secret.
 */
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
