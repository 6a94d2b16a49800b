import { walkFields, WireType } from "@xdstp/core/wire";
import type { ResourceType } from "@xdstp/core";
import {
  readAny,
  readResource,
  readResponse as read,
  readText,
  type ReceivedResource,
  type ReceivedResponse,
  type ResponseFields,
} from "@xdstp/protocol/client";
import { nameKey } from "@xdstp/uri";

/** The field numbers of `DiscoveryResponse`. */
const fields: ResponseFields = {
  message: "DiscoveryResponse",
  version: 1,
  resources: 2,
  canary: 3,
  nonce: 5,
  controlPlane: 6,
  errors: 7,
};

/** The type URL of a wrapped resource, which has a name and version of its own (C-WRAP-1). */
const WRAPPER = "type.googleapis.com/envoy.service.discovery.v3.Resource";

/**
 * Reads a response. Of a payload only the name is decoded, and bytes in the result are views into
 * the message. Never throws.
 */
export function readResponse(
  message: Uint8Array,
  typeUrl: string,
  type: ResourceType | undefined,
  errorText: (text: string) => string,
): ReceivedResponse {
  const nameField = type?.nameField ?? 1;
  return read(message, {
    fields,
    typeUrl,
    errorText,
    readOne: (bytes, start, end) => readOne(bytes, start, end, typeUrl, nameField),
  });
}

function readOne(
  message: Uint8Array,
  start: number,
  end: number,
  typeUrl: string,
  nameField: number,
): ReceivedResource {
  const any = readAny(message, start, end, typeUrl);
  if (any === undefined)
    return { name: "", key: "", version: "", fault: "one of its resources is not an Any message" };
  const at = any.value.byteOffset - message.byteOffset;
  if (any.typeUrl === WRAPPER) return readResource(message, at, at + any.value.length, typeUrl);
  const { name, fault } = nameIn(message, at, at + any.value.length, nameField);
  return {
    name,
    key: nameKey(name),
    version: "",
    payload: any,
    ...(fault === undefined ? {} : { fault }),
  };
}

/** Reads the name in a payload (B-WRAP-4); of a repeated field the last occurrence counts. */
function nameIn(
  message: Uint8Array,
  start: number,
  end: number,
  nameField: number,
): { readonly name: string; readonly fault?: string } {
  const found: { name: string; fault?: string } = { name: "" };
  const { outcome } = walkFields(
    message,
    (field, from, to, wireType) => {
      if (field === nameField && wireType === WireType.LENGTH_DELIMITED)
        found.name = readText(message, from, to) ?? ((found.fault = "its name is not UTF-8"), "");
      return undefined;
    },
    { start, end },
  );
  return outcome === "complete" ? found : { ...found, fault: "its payload cannot be read" };
}
