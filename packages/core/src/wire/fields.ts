import { encodeText } from "#platform";

/** The wire types of protobuf that a walk supports; groups are not supported. */
export const WireType = { VARINT: 0, FIXED64: 1, LENGTH_DELIMITED: 2, FIXED32: 5 } as const;

/** The field that {@link nextField} last read. It is shared, so that reading allocates nothing. */
export const field = { number: 0, wireType: 0, start: 0 };

/**
 * Visits the fields of an encoded message in their order, one level deep; walk a nested message in
 * its own range. Never throws, and reads the message once.
 *
 * A group is malformed. A repeated field is visited each time; of a field that is not repeated the
 * last occurrence counts, as in every decoder.
 * For readers that need a few fields of a large message, such as `names` of `warms`.
 *
 * @param visit - Called with the number of each field, the range of its value (without tag and
 * length), and its wire type; returns false to end the walk
 * @param range - The part of the bytes that is walked. Default: all of them
 * @returns How the walk ended, and at which field. `complete`: everything was read; `ended`: the
 * visitor ended it; `truncated`: the field continues after the end; `malformed`: the bytes are not
 * a message
 */
export function walkFields(
  bytes: Uint8Array,
  visit: (field: number, start: number, end: number, wireType: number) => boolean | undefined,
  range: { readonly start?: number; readonly end?: number } = {},
): {
  readonly outcome: "complete" | "ended" | "truncated" | "malformed";
  readonly at: number;
} {
  const end = Math.min(range.end ?? bytes.length, bytes.length);
  let at = range.start ?? 0;
  while (at < end) {
    const next = nextField(bytes, at, end);
    if (next < 0) return { outcome: "malformed", at };
    if (next > end) return { outcome: "truncated", at };
    if (visit(field.number, field.start, next, field.wireType) === false)
      return { outcome: "ended", at };
    at = next;
  }
  return { outcome: "complete", at };
}

/**
 * Reads the field at `at` into {@link field}, and returns where it ends: -1 if it is malformed, a
 * number greater than `end` if it is truncated. For loops that run once per resource; other code
 * uses {@link walkFields}.
 */
export function nextField(bytes: Uint8Array, at: number, end: number): number {
  const afterTag = endOfVarint(bytes, at, end);
  if (afterTag < 0 || afterTag > end) return afterTag;
  const tag = varintValue(bytes, at, afterTag);
  if (tag < 8 || tag > 0xffff_ffff) return -1;
  field.number = Math.floor(tag / 8);
  field.wireType = tag % 8;
  field.start = afterTag;
  return endOfValue(bytes, afterTag, end);
}

function endOfValue(bytes: Uint8Array, at: number, end: number): number {
  switch (field.wireType) {
    case WireType.VARINT:
      return endOfVarint(bytes, at, end);
    case WireType.FIXED64:
      return at + 8;
    case WireType.FIXED32:
      return at + 4;
    case WireType.LENGTH_DELIMITED:
      return endOfDelimited(bytes, at, end);
    default:
      return -1;
  }
}

function endOfDelimited(bytes: Uint8Array, at: number, end: number): number {
  const afterLength = endOfVarint(bytes, at, end);
  if (afterLength < 0 || afterLength > end) return afterLength;
  field.start = afterLength;
  return afterLength + varintValue(bytes, at, afterLength);
}

function endOfVarint(bytes: Uint8Array, at: number, end: number): number {
  const next = varintEnd(bytes, at, end);
  return next < 0 && end - at < MAX_VARINT ? Infinity : next;
}

/** The greatest length of a varint in bytes: 64 bits in groups of seven. */
const MAX_VARINT = 10;

/**
 * Returns where the varint that begins at `at` ends; -1 if it does not end before `end`, or is not
 * a varint.
 */
export function varintEnd(bytes: Uint8Array, at: number, end: number): number {
  const limit = Math.min(end, at + MAX_VARINT);
  for (let i = at; i < limit; i++) {
    if ((bytes[i] ?? 0) < 0x80) return i + 1;
  }
  return -1;
}

/** Returns the varint in `[at, next)` as a number; exact below 2^53. `next` is where it ends. */
export function varintValue(bytes: Uint8Array, at: number, next: number): number {
  let value = 0;
  for (let i = next - 1; i >= at; i--) value = value * 128 + ((bytes[i] ?? 0) & 0x7f);
  return value;
}

/** Returns the number of bytes of a varint; for whole numbers from 0 to 2^53 - 1. */
export function varintLength(value: number): number {
  let length = 1;
  for (let rest = value; rest > 0x7f; rest = Math.floor(rest / 128)) length++;
  return length;
}

/** Writes a varint into `target` at `at`, and returns where it ends. */
export function writeVarint(target: Uint8Array, at: number, value: number): number {
  let i = at;
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) target[i++] = (rest % 128) | 0x80;
  target[i++] = rest;
  return i;
}

/**
 * Encodes one field of wire type 2 (a string, bytes, or a message that is already encoded), with
 * its tag and length, in a new buffer. A string is written in UTF-8. Responses are encoded this
 * way.
 */
export function lengthDelimited(field: number, value: Uint8Array | string): Uint8Array {
  const bytes = typeof value === "string" ? encodeText(value) : value;
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

/** Joins the parts, in their order, in a new buffer. */
export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const target = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    target.set(part, at);
    at += part.length;
  }
  return target;
}
