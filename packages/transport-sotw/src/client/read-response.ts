import { walkFields, WireType } from "@xdstp/core/wire";
import type { ResourceType } from "@xdstp/core";
import {
  type ClientLimits,
  readAny,
  readError,
  readIdentifier,
  readResource,
  readText,
  type ReceivedName,
  type ReceivedResource,
  type ReceivedResponse,
} from "@xdstp/protocol/client";
import { nameKey } from "@xdstp/uri";

/** Fields of `DiscoveryResponse`. */
const Field = {
  VERSION_INFO: 1,
  RESOURCES: 2,
  CANARY: 3,
  NONCE: 5,
  CONTROL_PLANE: 6,
  RESOURCE_ERRORS: 7,
} as const;

/** A resource in this form says its own name and version (C-WRAP-1). */
const WRAPPER = "type.googleapis.com/envoy.service.discovery.v3.Resource";

interface Draft {
  version: string;
  nonce: string;
  controlPlane: string;
  canary: boolean;
  readonly resources: ReceivedResource[];
  readonly errors: ReceivedName[];
  fault: string | undefined;
}

/** Reads a response; no payload is decoded but for its name, and what is bytes is a view into the message. Never throws. */
export function readResponse(
  message: Buffer,
  typeUrl: string,
  type: ResourceType | undefined,
  limits: ClientLimits,
): ReceivedResponse {
  const draft: Draft = {
    version: "",
    nonce: "",
    controlPlane: "",
    canary: false,
    resources: [],
    errors: [],
    fault: undefined,
  };
  const nameField = type?.nameField ?? 1;
  const { outcome } = walkFields(message, (field, start, end) => {
    if (field === Field.RESOURCES)
      draft.resources.push(readOne(message, start, end, typeUrl, nameField));
    else readField(draft, message, field, start, end, typeUrl, limits);
    return undefined;
  });
  const fault = outcome === "complete" ? draft.fault : "it is not a DiscoveryResponse";
  const { version, nonce, controlPlane, canary, resources, errors } = draft;
  return {
    typeUrl,
    version,
    nonce,
    controlPlane,
    canary,
    resources,
    removed: [],
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
    case Field.VERSION_INFO:
      draft.version = message.toString("utf8", start, end);
      break;
    case Field.CANARY:
      draft.canary = message[start] !== 0;
      break;
    case Field.NONCE:
      draft.nonce = message.toString("utf8", start, end);
      break;
    case Field.CONTROL_PLANE:
      draft.controlPlane = readIdentifier(message, start, end);
      break;
    case Field.RESOURCE_ERRORS:
      readResourceError(draft, readError(message, start, end, typeUrl, limits.errorText));
      break;
    default:
  }
}

function readResourceError(draft: Draft, error: ReceivedName | undefined): void {
  if (error === undefined) draft.fault = "one of its resource_errors cannot be read";
  else draft.errors.push(error);
}

function readOne(
  message: Buffer,
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

/** The name as the payload has it (B-WRAP-4); of a repeated field the last one counts. */
function nameIn(
  message: Buffer,
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
