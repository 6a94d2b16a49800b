import { fromBinary, fromJson, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import { XdsError } from "@xdstp/core";
import { type DiscoveryRequest, DiscoveryRequestSchema } from "@xdstp/protos/discovery";

/** The two forms of a message in a body. */
export type BodyForm = "json" | "binary";

/**
 * Returns the form that a media type names, or `undefined` for other types. An absent one is JSON.
 */
export function formOf(mediaType: string | undefined): BodyForm | undefined {
  const [type = ""] = (mediaType ?? "application/json").split(";", 1);
  switch (type.trim().toLowerCase()) {
    case "":
    case "application/json":
      return "json";
    case "application/x-protobuf":
    case "application/protobuf":
    case "application/octet-stream":
      return "binary";
    default:
      return undefined;
  }
}

/** Returns the form in which a client wants its answer: the first that its header `accept` names. */
export function formInAccept(accept: string | undefined, own: BodyForm): BodyForm {
  for (const part of (accept ?? "").split(",")) {
    const form = part.trim() === "" ? undefined : formOf(part);
    if (form !== undefined) return form;
  }
  return own;
}

/**
 * Reads the body of a poll. In JSON both spellings of field names are read, and unknown fields are
 * ignored (S-REST-2).
 * Throws an XdsError, INVALID_ARGUMENT, that says what is wrong.
 */
export function readPoll(body: Uint8Array, form: BodyForm): DiscoveryRequest {
  try {
    return form === "binary"
      ? fromBinary(DiscoveryRequestSchema, body)
      : fromJson(DiscoveryRequestSchema, withoutUnread(jsonOf(body)), {
          ignoreUnknownFields: true,
        });
  } catch (error) {
    throw new XdsError(
      "INVALID_ARGUMENT",
      `the body is not a DiscoveryRequest in ${form === "json" ? "JSON" : "binary"}: ${XdsError.from(error).text}`,
      { cause: error },
    );
  }
}

function jsonOf(body: Uint8Array): JsonValue {
  return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body)) as JsonValue;
}

/**
 * Removes what no server reads: Envoy lists its 500 extensions in each poll, and the details of an
 * error may have types that are not known here.
 */
function withoutUnread(request: JsonValue): JsonValue {
  if (!isObject(request)) return request;
  const { node } = request;
  const error = request.error_detail ?? request.errorDetail;
  if (isObject(node)) delete node.extensions;
  if (isObject(error)) delete error.details;
  return request;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
