import { fromBinary, type DescMessage, type MessageShape } from "@bufbuild/protobuf";
import { anyFromJson, envoyRegistry, ResourceJsonError } from "@xdstp/protos/envoy";
import { typeUrlOf } from "@xdstp/resource-types";

import type { JsonObject } from "../grpc/bootstrap.ts";
import { wrongAt, type Placed } from "../grpc/place.ts";
import { inside } from "./inside.ts";

/** A message from JSON. Throws an XdsError, INVALID_ARGUMENT, that names the field, and of a secret one not the value. */
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

/** The decoder repeats the type, which the path says. */
function plain(reason: string): string {
  const [, type, value] = /^cannot decode enum (\S+) from JSON: (.*)$/s.exec(reason) ?? [];
  if (type !== undefined) return `is ${value ?? ""}, which is not a valid ${type}`;
  if (/ key ".*" is unknown$/s.test(reason)) return "is unknown";
  return `cannot be read: ${reason.replace(/^cannot decode (?:message|field) \S+ from JSON: /, "")}`;
}
