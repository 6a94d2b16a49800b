import { concatBytes } from "./concat-bytes.ts";
import { fieldHead } from "./field-head.ts";

/**
 * One field of wire type 2 (a string, bytes, or a message that is encoded already) with its tag and length, in a buffer of its own.
 * A string is written in UTF-8. Called where responses are encoded.
 */
export function lengthDelimited(field: number, value: Uint8Array | string): Uint8Array {
  const bytes = typeof value === "string" ? Buffer.from(value) : value;
  return concatBytes([fieldHead(field, bytes.length), bytes]);
}
