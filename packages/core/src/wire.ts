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
  decodeText,
  varintEnd,
  varintValue,
  concatBytes,
  fieldHead,
  lengthDelimited,
} from "./wire/fields.ts";

// The entries of list collections.
export { walkList, type ListEntry } from "./wire/walk-list.ts";
