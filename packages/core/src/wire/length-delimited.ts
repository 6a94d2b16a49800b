import { varintLength, writeVarint } from "./varint.ts";

/**
 * One field of wire type 2 (a string, bytes, or a message that is encoded already) with its tag and length, in a buffer of its own.
 * A string is written in UTF-8. Called where responses are encoded.
 */
export function lengthDelimited(field: number, value: Uint8Array | string): Uint8Array {
  const bytes = typeof value === "string" ? Buffer.from(value) : value;
  return concatBytes([fieldHead(field, bytes.length), bytes]);
}

const LENGTH_DELIMITED = 2;

/** Returns the tag and the length of a field of wire type 2. The caller puts them before `length` bytes that are already encoded, which saves a copy. Responses are encoded this way. */
export function fieldHead(field: number, length: number): Uint8Array {
  const tag = field * 8 + LENGTH_DELIMITED;
  const head = new Uint8Array(varintLength(tag) + varintLength(length));
  writeVarint(head, writeVarint(head, 0, tag), length);
  return head;
}

/** The parts one after another, in a buffer of their own. */
export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const target = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    target.set(part, at);
    at += part.length;
  }
  return target;
}
