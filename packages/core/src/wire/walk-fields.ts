import { MAX_VARINT, varintEnd, varintValue } from "./varint.ts";

/** The wire types of protobuf that a walk passes over; groups are not among them. */
export const WireType = { VARINT: 0, FIXED64: 1, LENGTH_DELIMITED: 2, FIXED32: 5 } as const;

/** The part of the bytes that is walked. */
export interface FieldRange {
  /** Default: 0. */
  readonly start?: number;
  /** Default: the end of the bytes. */
  readonly end?: number;
}

/** How a walk ended. */
export interface FieldWalk {
  /** All was read; the visitor ended it; the field at hand goes on beyond the end; the bytes are not a message. */
  readonly outcome: "complete" | "ended" | "truncated" | "malformed";
  /** Where the field begins at which the walk ended. */
  readonly at: number;
}

/** The field that {@link nextField} read last, so that reading allocates nothing. */
export const field = { number: 0, wireType: 0, start: 0 };

/**
 * Visits the fields of an encoded message in their order, one level deep; a nested message is walked in its own range. Never throws, costs one pass.
 *
 * A group is malformed. A repeated field is visited each time; of a single one the last counts, as in every decoder.
 * For readers that need a few fields of a large message, such as `names` of `Warms`.
 *
 * @param visit - called with the number of each field, where its value lies (without tag and length), and its wire type; returns false to end the walk
 */
export function walkFields(
  bytes: Uint8Array,
  visit: (field: number, start: number, end: number, wireType: number) => boolean | undefined,
  range: FieldRange = {},
): FieldWalk {
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

/** Reads the field at `at` into {@link field}, and gives where it ends: -1 if malformed, beyond `end` if truncated. For loops that run for each resource; others walk. */
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
