import { concatBytes } from "./concat-bytes.ts";
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

/** Tag and length of a field of wire type 2, to be put before `length` bytes that are there already and need no copy. Called where responses are encoded. */
export function fieldHead(field: number, length: number): Uint8Array {
  const tag = field * 8 + LENGTH_DELIMITED;
  const head = new Uint8Array(varintLength(tag) + varintLength(length));
  writeVarint(head, writeVarint(head, 0, tag), length);
  return head;
}
