import { fromBinary } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

import {
  ResourceLocatorSchema,
  type ResourceLocator,
} from "../gen/xds/core/v3/resource_locator_pb.ts";

/**
 * Reads a redirect: the value of an Any of type xds.core.v3.ResourceLocator. For readers of resources (C-REDIR-1).
 *
 * A field 1 with a length is the text form; in the message it is a varint, or absent (N-82). Never throws. Locators nested deeper than 100 are rejected (B-LIM-5).
 */
export function readRedirect(bytes: Uint8Array): Read<Located> {
  return attempt(() => {
    const text = textOf(bytes);
    if (text !== undefined) return { form: "text", text };
    return { form: "message", message: fromBinary(ResourceLocatorSchema, bytes) };
  });
}

function textOf(bytes: Uint8Array): string | undefined {
  const reader = new BinaryReader(bytes);
  let text: string | undefined;
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === 1 && wireType === WireType.LengthDelimited) text = reader.string(true);
    else reader.skip(wireType, field); // a protobuf reader has to step over fields that it does not read
  }
  return text;
}

/** A locator in one of its two wire forms (N-82): a text to parse, or a decoded message. */
export type Located =
  | { readonly form: "text"; readonly text: string }
  | { readonly form: "message"; readonly message: ResourceLocator };

/** The result of a function that decodes bytes of a peer and never throws: the value, or the reason why the bytes are invalid. */
export type Read<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly reason: string };

/** Returns the value of `read`, or the message of the error that it threw. */
function attempt<T>(read: () => T): Read<T> {
  try {
    return { ok: true, value: read() };
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : String(error) };
  }
}
