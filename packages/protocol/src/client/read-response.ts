import { decodeText, walkFields } from "@xdstp/core/wire";
import { readError } from "./read-error.ts";
import { readIdentifier, readText } from "./read-fields.ts";
import { readResourceName } from "./read-resource.ts";
import type { ReceivedName, ReceivedResource, ReceivedResponse } from "./received.ts";

/** The field numbers of a response in one variant. */
export interface ResponseFields {
  /** The name of the message, for people. */
  readonly message: string;
  /** The version of the response. */
  readonly version: number;
  /** The resources. */
  readonly resources: number;
  /** SotW: `canary`. */
  readonly canary?: number;
  /** The nonce. */
  readonly nonce: number;
  /** Delta: names that were removed. */
  readonly removed?: number;
  /** `control_plane`. */
  readonly controlPlane: number;
  /** Delta: variants that were removed (TP2). */
  readonly removedNames?: number;
  /** `resource_errors`. */
  readonly errors: number;
}

interface Draft {
  version: string;
  nonce: string;
  controlPlane: string;
  canary: boolean;
  readonly resources: ReceivedResource[];
  readonly removed: ReceivedName[];
  readonly errors: ReceivedName[];
  fault: string | undefined;
}

/**
 * Reads a response. Bytes in the result are views into the message. Never throws: `fault` says what
 * cannot be read.
 * @param options - The field numbers, the type of the response, and the functions that shorten
 * the text of an error and read one resource between two bytes of the message
 */
export function readResponse(
  message: Uint8Array,
  options: {
    readonly fields: ResponseFields;
    readonly typeUrl: string;
    readonly errorText: (text: string) => string;
    readonly readOne: (message: Uint8Array, start: number, end: number) => ReceivedResource;
  },
): ReceivedResponse {
  const { fields, typeUrl, readOne } = options;
  const draft: Draft = {
    version: "",
    nonce: "",
    controlPlane: "",
    canary: false,
    resources: [],
    removed: [],
    errors: [],
    fault: undefined,
  };
  const { outcome } = walkFields(message, (field, start, end) => {
    if (field === fields.resources) draft.resources.push(readOne(message, start, end));
    else readField(draft, message, field, start, end, options);
    return undefined;
  });
  const { fault, ...received } = draft;
  if (outcome !== "complete")
    return { typeUrl, ...received, fault: `it is not a ${fields.message}` };
  return fault === undefined ? { typeUrl, ...received } : { typeUrl, ...received, fault };
}

function readField(
  draft: Draft,
  message: Uint8Array,
  field: number,
  start: number,
  end: number,
  { fields, typeUrl, errorText }: Parameters<typeof readResponse>[1],
): void {
  switch (field) {
    case fields.version:
      draft.version = decodeText(message, start, end);
      break;
    case fields.canary:
      draft.canary = message[start] !== 0;
      break;
    case fields.nonce:
      draft.nonce = decodeText(message, start, end);
      break;
    case fields.removed:
      readRemoved(draft, readText(message, start, end));
      break;
    case fields.controlPlane:
      draft.controlPlane = readIdentifier(message, start, end);
      break;
    case fields.removedNames:
      readRemovedName(draft, message, start, end);
      break;
    case fields.errors:
      readResourceError(draft, readError(message, start, end, typeUrl, errorText));
      break;
    default:
  }
}

function readRemoved(draft: Draft, name: string | undefined): void {
  if (name === undefined) draft.fault = "a name in removed_resources is not UTF-8";
  else draft.removed.push({ name });
}

/** Reads the removal of one variant of a name (TP2). */
function readRemovedName(draft: Draft, message: Uint8Array, start: number, end: number): void {
  const { fault, ...removed } = readResourceName(message, start, end);
  if (fault === undefined) draft.removed.push(removed);
  else draft.fault = "a name in removed_resource_names cannot be read";
}

function readResourceError(draft: Draft, error: ReceivedName | undefined): void {
  if (error === undefined) draft.fault = "one of its resource_errors cannot be read";
  else draft.errors.push(error);
}
