import type { ResourceType } from "@xdstp/core";
import {
  type ClientLimits,
  readResource,
  readResponse as read,
  type ReceivedResponse,
  type ResponseFields,
} from "@xdstp/protocol/client";

/** Of `DeltaDiscoveryResponse`. */
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

/** Reads a response; no payload is decoded, and what is bytes is a view into the message. Never throws. */
export function readResponse(
  message: Buffer,
  typeUrl: string,
  _type: ResourceType | undefined,
  limits: ClientLimits,
): ReceivedResponse {
  return read(message, {
    fields,
    typeUrl,
    limits,
    readOne: (bytes, start, end) => readResource(bytes, start, end, typeUrl),
  });
}
