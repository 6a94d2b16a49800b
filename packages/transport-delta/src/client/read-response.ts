import { walkFields } from "@xdstp/core/wire";
import type { ResourceType } from "@xdstp/core";
import {
  type ClientLimits,
  readError,
  readIdentifier,
  readResource,
  readResourceName,
  readText,
  type ReceivedName,
  type ReceivedResource,
  type ReceivedResponse,
} from "@xdstp/protocol/client";

/** Fields of `DeltaDiscoveryResponse`. */
const Field = {
  SYSTEM_VERSION_INFO: 1,
  RESOURCES: 2,
  NONCE: 5,
  REMOVED_RESOURCES: 6,
  CONTROL_PLANE: 7,
  REMOVED_RESOURCE_NAMES: 8,
  RESOURCE_ERRORS: 9,
} as const;

interface Draft {
  version: string;
  nonce: string;
  controlPlane: string;
  readonly resources: ReceivedResource[];
  readonly removed: ReceivedName[];
  readonly errors: ReceivedName[];
  fault: string | undefined;
}

/** Reads a response; no payload is decoded, and what is bytes is a view into the message. Never throws. */
export function readResponse(
  message: Buffer,
  typeUrl: string,
  _type: ResourceType | undefined,
  limits: ClientLimits,
): ReceivedResponse {
  const draft: Draft = {
    version: "",
    nonce: "",
    controlPlane: "",
    resources: [],
    removed: [],
    errors: [],
    fault: undefined,
  };
  const { outcome } = walkFields(message, (field, start, end) => {
    readField(draft, message, field, start, end, typeUrl, limits);
    return undefined;
  });
  const fault = outcome === "complete" ? draft.fault : "it is not a DeltaDiscoveryResponse";
  const { version, nonce, controlPlane, resources, removed, errors } = draft;
  return {
    typeUrl,
    version,
    nonce,
    controlPlane,
    canary: false,
    resources,
    removed,
    errors,
    ...(fault === undefined ? {} : { fault }),
  };
}

function readField(
  draft: Draft,
  message: Buffer,
  field: number,
  start: number,
  end: number,
  typeUrl: string,
  limits: ClientLimits,
): void {
  switch (field) {
    case Field.SYSTEM_VERSION_INFO:
      draft.version = message.toString("utf8", start, end);
      break;
    case Field.RESOURCES:
      draft.resources.push(readResource(message, start, end, typeUrl));
      break;
    case Field.NONCE:
      draft.nonce = message.toString("utf8", start, end);
      break;
    case Field.REMOVED_RESOURCES:
      readRemoved(draft, readText(message, start, end));
      break;
    case Field.CONTROL_PLANE:
      draft.controlPlane = readIdentifier(message, start, end);
      break;
    case Field.REMOVED_RESOURCE_NAMES:
      readRemovedName(draft, message, start, end);
      break;
    case Field.RESOURCE_ERRORS:
      readResourceError(draft, readError(message, start, end, typeUrl, limits.errorText));
      break;
    default:
  }
}

function readRemoved(draft: Draft, name: string | undefined): void {
  if (name === undefined) draft.fault = "a name in removed_resources is not UTF-8";
  else draft.removed.push({ name });
}

/** One variant of a name (TP2). */
function readRemovedName(draft: Draft, message: Buffer, start: number, end: number): void {
  const { fault, ...removed } = readResourceName(message, start, end);
  if (fault === undefined) draft.removed.push(removed);
  else draft.fault = "a name in removed_resource_names cannot be read";
}

function readResourceError(draft: Draft, error: ReceivedName | undefined): void {
  if (error === undefined) draft.fault = "one of its resource_errors cannot be read";
  else draft.errors.push(error);
}
