import { walkFields, WireType } from "@xdstp/core/wire";

/** A place in a payload: of a nested message, or of a text. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** Where the last length-delimited field of this number lies within a message; of malformed bytes, the part in front of the fault is read. */
export function lastField(bytes: Uint8Array, within: Range, number: number): Range | undefined {
  let found: Range | undefined;
  walkFields(
    bytes,
    (field, start, end, wireType) => {
      if (field === number && wireType === WireType.LENGTH_DELIMITED) found = { start, end };
      return true;
    },
    within,
  );
  return found;
}
