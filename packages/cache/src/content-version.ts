import { hash } from "node:crypto";

import type { Resource } from "@xdstp/core";

import { fieldLength, scratchWriter } from "./protobuf-writer.ts";

/** Length of a content version: 128 bits in base64url. */
const CONTENT_VERSION_LENGTH = 22;

/** The content of a resource: everything that its version depends on; name, version, TTL and cache control are not part of it. */
export type Content = Pick<Resource, "payload" | "aliases" | "constraints" | "metadata">;

/**
 * The version that content gets where it came without one (S-VER-4): the first 128 bits, in base64url, of SHA-256 over an encoded
 * `envoy.service.discovery.v3.Resource` that holds, in this order, nothing but `resource` (2), `aliases` (4), the constraints inside `resource_name` (8), and `metadata` (9).
 *
 * It is the same in every replica, after every restart and across releases.
 */
export function contentVersion(content: Content): string {
  return hash("sha256", encodeContent(content), "base64url").slice(0, CONTENT_VERSION_LENGTH);
}

/** Length of the field `value` of an Any; an empty one is left out, as every encoder does. */
export function valueFieldLength(value: Uint8Array): number {
  return value.length === 0 ? 0 : fieldLength(value.length);
}

function encodeContent({ payload, aliases = [], constraints, metadata }: Content): Uint8Array {
  const typeLength = Buffer.byteLength(payload.typeUrl);
  const anyLength = fieldLength(typeLength) + valueFieldLength(payload.value);
  let length = fieldLength(anyLength);
  for (const alias of aliases) length += fieldLength(Buffer.byteLength(alias));
  if (constraints !== undefined) length += fieldLength(fieldLength(constraints.length));
  if (metadata !== undefined) length += fieldLength(metadata.length);
  const writer = scratchWriter(length);
  writer.header(2, anyLength);
  writer.text(1, payload.typeUrl, typeLength);
  if (payload.value.length > 0) writer.block(2, payload.value);
  for (const alias of aliases) writer.text(4, alias, Buffer.byteLength(alias));
  if (constraints !== undefined) {
    writer.header(8, fieldLength(constraints.length));
    writer.block(2, constraints);
  }
  if (metadata !== undefined) writer.block(9, metadata);
  return writer.written;
}
