import { fromBinary, toBinary } from "@bufbuild/protobuf";
import type { AnyBytes } from "@xdstp/core";
import {
  DeltaDiscoveryResponseSchema,
  DiscoveryResponseSchema,
  ResourceSchema,
} from "@xdstp/protos/discovery";

import { wrapperType } from "./read-message.ts";
import type { Variant } from "./recording.ts";

/**
 * Returns the part of a payload that may be recorded. It returns the same object if that is the
 * whole payload.
 */
export type HidePayload = (payload: AnyBytes) => AnyBytes;

/**
 * Returns a response without the parts of its payloads that `hide` removes, or the same bytes if
 * `hide` removes nothing. Versions and nonces stay. Bytes that are not a response are replaced with
 * no bytes.
 */
export function redactResponse(variant: Variant, bytes: Uint8Array, hide: HidePayload): Uint8Array {
  try {
    return variant === "delta" ? redactDelta(bytes, hide) : redactSotw(bytes, hide);
  } catch {
    return new Uint8Array();
  }
}

interface Slot {
  typeUrl: string;
  value: Uint8Array;
}

function redactDelta(bytes: Uint8Array, hide: HidePayload): Uint8Array {
  const response = fromBinary(DeltaDiscoveryResponseSchema, bytes);
  const slots = response.resources.flatMap(({ resource }) =>
    resource === undefined ? [] : [resource],
  );
  return hideIn(slots, hide) ? toBinary(DeltaDiscoveryResponseSchema, response) : bytes;
}

function redactSotw(bytes: Uint8Array, hide: HidePayload): Uint8Array {
  const response = fromBinary(DiscoveryResponseSchema, bytes);
  const within = (payload: AnyBytes): AnyBytes =>
    payload.typeUrl === wrapperType ? hideInWrapper(payload, hide) : hide(payload);
  return hideIn(response.resources, within) ? toBinary(DiscoveryResponseSchema, response) : bytes;
}

function hideInWrapper(payload: AnyBytes, hide: HidePayload): AnyBytes {
  const wrapper = fromBinary(ResourceSchema, payload.value);
  const hidden = wrapper.resource !== undefined && hideIn([wrapper.resource], hide);
  return hidden ? { typeUrl: payload.typeUrl, value: toBinary(ResourceSchema, wrapper) } : payload;
}

/** Redacts the payloads in place. Returns true if anything was removed. */
function hideIn(slots: readonly Slot[], hide: HidePayload): boolean {
  let hidden = false;
  for (const slot of slots) {
    const shown = hide(slot);
    if (shown === slot || shown.value === slot.value) continue;
    slot.value = shown.value;
    hidden = true;
  }
  return hidden;
}
