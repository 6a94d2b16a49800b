import { sha256 } from "#sha256";
import type { Resource } from "@xdstp/core";
import { byteLength } from "@xdstp/core/wire";

import { fieldLength, scratchWriter } from "./protobuf-writer.ts";

/** Length of a content version: 128 bits in base64url. */
const CONTENT_VERSION_LENGTH = 22;

/**
 * Returns the version of content that came without one (S-VER-4): the first 128 bits, in base64url,
 * of SHA-256 over an encoded `envoy.service.discovery.v3.Resource` with only these fields, in this
 * order: `resource` (2), `aliases` (4), the constraints in `resource_name` (8), and `metadata` (9).
 *
 * It is the same in every replica, after every restart and across releases. Name, version, TTL and
 * cache control are not part of it.
 */
export function contentVersion(
  content: Pick<Resource, "payload" | "aliases" | "constraints" | "metadata">,
): string {
  return sha256(encodeContent(content)).slice(0, CONTENT_VERSION_LENGTH);
}

/**
 * Returns the length of the field `value` of an Any. An empty value is left out, as in every
 * encoder.
 */
export function valueFieldLength(value: Uint8Array): number {
  return value.length === 0 ? 0 : fieldLength(value.length);
}

function encodeContent({
  payload,
  aliases = [],
  constraints,
  metadata,
}: Parameters<typeof contentVersion>[0]): Uint8Array {
  const typeLength = byteLength(payload.typeUrl);
  const anyLength = fieldLength(typeLength) + valueFieldLength(payload.value);
  let length = fieldLength(anyLength);
  for (const alias of aliases) length += fieldLength(byteLength(alias));
  if (constraints !== undefined) length += fieldLength(fieldLength(constraints.length));
  if (metadata !== undefined) length += fieldLength(metadata.length);
  const writer = scratchWriter(length);
  writer.header(2, anyLength);
  writer.text(1, payload.typeUrl, typeLength);
  if (payload.value.length > 0) writer.block(2, payload.value);
  for (const alias of aliases) writer.text(4, alias, byteLength(alias));
  if (constraints !== undefined) {
    writer.header(8, fieldLength(constraints.length));
    writer.block(2, constraints);
  }
  if (metadata !== undefined) writer.block(9, metadata);
  return writer.written;
}

const LOW = 2 ** 32;
const SPACE = 2 ** 52;

/**
 * Returns a 52-bit hash of name and version, the same in every replica and release (S-VER-2,
 * S-VER-4).
 *
 * Two 32-bit lanes process each UTF-16 unit of the name, a zero, each unit of the version, and a
 * zero; then each lane is mixed with the other. The hash need not resist an attacker, since the sum
 * over a set would not either.
 */
export function resourceHash(name: string, version: string): number {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (const text of [name, version]) {
    for (let i = 0; i <= text.length; i++) {
      const unit = i < text.length ? text.charCodeAt(i) : 0;
      a = Math.imul(a ^ unit, 0x9e3779b1);
      b = Math.imul(b ^ unit, 0x5f356495);
    }
  }
  a = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35);
  b = Math.imul(b ^ (b >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35);
  return (b & 0xfffff) * LOW + (a >>> 0);
}

/** Returns the hash of a set with one more member. */
export function hashWith(sum: number, hash: number): number {
  return (sum + hash) % SPACE;
}

/** Returns the hash of a set with one member less. */
export function hashWithout(sum: number, hash: number): number {
  return (sum - hash + SPACE) % SPACE;
}
