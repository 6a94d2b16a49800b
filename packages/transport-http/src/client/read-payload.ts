import { fromJson, type JsonValue, type Registry, toBinary } from "@bufbuild/protobuf";
import { type AnyBytes, XdsError } from "@xdstp/core";
import { typeFromTypeUrl } from "@xdstp/uri";

/** The forms in which a server may send a message, by media type. */
const protobuf: ReadonlySet<string> = new Set([
  "application/x-protobuf",
  "application/protobuf",
  "application/octet-stream",
]);

/**
 * Returns the message in a body (S-HTTP-2). JSON is encoded as protobuf.
 * Throws an XdsError: FAILED_PRECONDITION if the form or the type is not known, INVALID_ARGUMENT if
 * the JSON is not a message of the type.
 * @param registry - the types of messages in JSON
 */
export function readPayload(
  typeUrl: string,
  { body, mediaType }: { readonly body: Uint8Array; readonly mediaType: string },
  registry: Registry | undefined,
): AnyBytes {
  if (protobuf.has(mediaType)) return { typeUrl, value: body };
  if (mediaType !== "application/json")
    throw new XdsError(
      "FAILED_PRECONDITION",
      `the content is ${JSON.stringify(mediaType)}; application/x-protobuf and application/json can be read`,
      { rule: "S-HTTP-2" },
    );
  const schema = registry?.getMessage(typeFromTypeUrl(typeUrl) ?? typeUrl);
  if (schema === undefined)
    throw new XdsError(
      "FAILED_PRECONDITION",
      `the content is JSON, and its type ${typeUrl} is not known; give a registry that has it`,
      { rule: "S-HTTP-2" },
    );
  try {
    const json = JSON.parse(new TextDecoder().decode(body)) as JsonValue;
    const message = fromJson(schema, json, registry === undefined ? {} : { registry });
    return { typeUrl, value: toBinary(schema, message) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new XdsError("INVALID_ARGUMENT", `the content is not a ${schema.typeName}: ${reason}`, {
      rule: "S-HTTP-2",
    });
  }
}
