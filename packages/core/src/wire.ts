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
  varintEnd,
  varintLength,
  varintValue,
  writeVarint,
  concatBytes,
  fieldHead,
  lengthDelimited,
} from "./wire/fields.ts";

// Texts and bytes, by the functions of the platform that are the fastest.
export {
  allocateBytes,
  byteLength,
  copyBytes,
  copyText,
  decodeLatin1,
  decodeText,
  encodeText,
  equalBytes,
  isUtf8,
  writeText,
} from "#platform";

// The entries of list collections.
export { walkList, type ListEntry } from "./wire/walk-list.ts";
