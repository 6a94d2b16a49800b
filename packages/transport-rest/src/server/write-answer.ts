import { createRegistry, fromBinary, type Registry, toJsonString } from "@bufbuild/protobuf";
import { XdsError } from "@xdstp/core";
import { DiscoveryResponseSchema } from "@xdstp/protos/discovery";

import type { BodyForm } from "./read-poll.ts";

/** Writes encoded responses in the form that a client wants. */
export type AnswerWriter = (bytes: Uint8Array, form: BodyForm) => Uint8Array;

/**
 * Creates a writer. Clients in the same state share the bytes of a response, so its JSON is made
 * once for all of them.
 * The writer throws an XdsError, UNIMPLEMENTED, if a resource has a type that `registry` lacks.
 */
export function createAnswerWriter(registry: Registry = createRegistry()): AnswerWriter {
  const written = new WeakMap<Uint8Array, Uint8Array>();
  return (bytes, form) => {
    if (form === "binary") return bytes;
    const known = written.get(bytes);
    if (known !== undefined) return known;
    const json = new TextEncoder().encode(jsonOf(bytes, registry));
    written.set(bytes, json);
    return json;
  };
}

function jsonOf(bytes: Uint8Array, registry: Registry): string {
  const response = fromBinary(DiscoveryResponseSchema, bytes);
  try {
    return toJsonString(DiscoveryResponseSchema, response, { registry });
  } catch (error) {
    throw new XdsError(
      "UNIMPLEMENTED",
      `the response of ${response.typeUrl} cannot be written as JSON: ${XdsError.from(error).text}. Ask with "accept: application/x-protobuf", or give the server the type`,
      { typeUrl: response.typeUrl, cause: error },
    );
  }
}
