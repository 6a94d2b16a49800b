import { varintLength, writeVarint } from "./varint.ts";

const LENGTH_DELIMITED = 2;

/** Tag and length of a field of wire type 2, to be put before `length` bytes that are there already and need no copy. Called where responses are encoded. */
export function fieldHead(field: number, length: number): Uint8Array {
  const tag = field * 8 + LENGTH_DELIMITED;
  const head = new Uint8Array(varintLength(tag) + varintLength(length));
  writeVarint(head, writeVarint(head, 0, tag), length);
  return head;
}
