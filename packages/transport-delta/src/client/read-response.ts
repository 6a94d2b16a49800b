import type { ResourceType } from "@xdstp/core";
import {
  readResource,
  readResponse as read,
  type ReceivedResponse,
  type ResponseFields,
} from "@xdstp/protocol/client";

/** The field numbers of `DeltaDiscoveryResponse`. */
const fields: ResponseFields = {
  message: "DeltaDiscoveryResponse",
  version: 1,
  resources: 2,
  nonce: 5,
  removed: 6,
  controlPlane: 7,
  removedNames: 8,
  errors: 9,
};

/**
 * Reads a response. Payloads are not decoded, and bytes in the result are views into the message.
 * Never throws.
 */
export function readResponse(
  message: Uint8Array,
  typeUrl: string,
  _type: ResourceType | undefined,
  errorText: (text: string) => string,
): ReceivedResponse {
  return read(message, {
    fields,
    typeUrl,
    errorText,
    readOne: (bytes, start, end) => readResource(bytes, start, end, typeUrl),
  });
}
