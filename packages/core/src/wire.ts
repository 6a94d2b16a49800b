/**
 * Reads single fields of encoded protobuf messages, and joins encoded fields to messages, without a full decoder.
 *
 * @packageDocumentation
 */
export {
  field,
  nextField,
  walkFields,
  WireType,
  type FieldRange,
  type FieldWalk,
} from "./wire/walk-fields.ts";
export { decodeText } from "./wire/decode-text.ts";
export { varintEnd, varintValue } from "./wire/varint.ts";
export { concatBytes, fieldHead, lengthDelimited } from "./wire/length-delimited.ts";

// The entries of list collections.
export { walkList, type ListEntry } from "./wire/walk-list.ts";
