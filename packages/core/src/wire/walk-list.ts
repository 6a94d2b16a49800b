import type { AnyBytes } from "../resource.ts";
import { decodeText } from "#platform";
import { walkFields, WireType } from "./fields.ts";
import type { Fault } from "../xds-error.ts";

/** The field of the entries, which has this number in every list collection (B-LIST-1). */
const ENTRIES = 1;
/** Field numbers of `xds.core.v3.CollectionEntry`, which form a oneof. */
const LOCATOR = 1;
const INLINE = 2;
/** Field numbers of `CollectionEntry.InlineEntry`. */
const NAME = 1;
const VERSION = 2;
const RESOURCE = 3;
/** Field numbers of `google.protobuf.Any`. */
const TYPE_URL = 1;
const VALUE = 2;

const NO_MESSAGE: Fault = { text: "is not a message" };

/** One entry of a list collection; its bytes are views into the list. */
export type ListEntry =
  /** `locator`: the encoded locator, in either of its forms (N-82). */
  | { readonly kind: "locator"; readonly locator: Uint8Array }
  /** `name`: empty if the entry has none, so that nothing can refer to it (N-70). */
  | {
      readonly kind: "inline";
      readonly name: string;
      readonly version: string;
      readonly payload: AnyBytes;
    };

/**
 * Visits the entries of an encoded list collection. Never throws. Returns the first fault, with the
 * number of the entry: an entry that is neither a locator nor inline (B-LIST-3), a name that occurs
 * twice, a payload whose type is not that of the members (B-LIST-4), or the fault that the visitor
 * returned. undefined: there is none.
 */
export function walkList(
  payload: Uint8Array,
  memberTypeUrl: string,
  visit?: (entry: ListEntry) => Fault | undefined,
): Fault | undefined {
  const names = new Set<string>();
  let count = 0;
  let fault: Fault | undefined;
  const { outcome } = walkFields(payload, (field, start, end, wireType) => {
    if (field !== ENTRIES) return true;
    count++;
    const entry =
      wireType === WireType.LENGTH_DELIMITED ? readEntry(payload, start, end) : NO_MESSAGE;
    fault = "text" in entry ? entry : (inlineFault(entry, memberTypeUrl, names) ?? visit?.(entry));
    return fault === undefined;
  });
  if (fault !== undefined) return { ...fault, text: `entry ${count} of the list ${fault.text}` };
  return outcome === "complete" ? undefined : { text: "it is not a list of collection entries" };
}

/**
 * Reads one entry. If it has both a locator and an inline entry, the last one counts, as in every
 * decoder.
 */
function readEntry(bytes: Uint8Array, start: number, end: number): ListEntry | Fault {
  let last: readonly [field: number, start: number, end: number] | undefined;
  const { outcome } = walkFields(
    bytes,
    (field, from, to, wireType) => {
      if (field <= INLINE && wireType === WireType.LENGTH_DELIMITED) last = [field, from, to];
      return true;
    },
    { start, end },
  );
  if (outcome !== "complete") return NO_MESSAGE;
  if (last === undefined)
    return { text: "is neither a locator nor inline; give it one of the two", rule: "B-LIST-3" };
  const [field, from, to] = last;
  return field === LOCATOR
    ? { kind: "locator", locator: bytes.subarray(from, to) }
    : readInline(bytes, from, to);
}

function readInline(bytes: Uint8Array, start: number, end: number): ListEntry | Fault {
  const inline = fieldsOf(bytes, start, end);
  const any = inline?.[RESOURCE] === undefined ? {} : fieldsOf(bytes, ...inline[RESOURCE]);
  if (inline === undefined || any === undefined) return NO_MESSAGE;
  const value = any[VALUE] === undefined ? new Uint8Array() : bytes.subarray(...any[VALUE]);
  return {
    kind: "inline",
    name: textOf(bytes, inline[NAME]),
    version: textOf(bytes, inline[VERSION]),
    payload: { typeUrl: textOf(bytes, any[TYPE_URL]), value },
  };
}

function inlineFault(
  entry: ListEntry,
  memberTypeUrl: string,
  names: Set<string>,
): Fault | undefined {
  if (entry.kind === "locator") return undefined;
  const {
    name,
    payload: { typeUrl },
  } = entry;
  if (name !== "" && names.has(name))
    return {
      text: `has the name ${JSON.stringify(name)} for a second time; use another name`,
      rule: "B-LIST-4",
    };
  names.add(name);
  return typeUrl === memberTypeUrl
    ? undefined
    : {
        text: `has a payload of type ${JSON.stringify(typeUrl)}; it has to be ${memberTypeUrl}`,
        rule: "B-LIST-4",
      };
}

type Fields = Readonly<Partial<Record<number, readonly [start: number, end: number]>>>;

/**
 * Returns the range of each field that is a message or text; of a repeated one, the last.
 * undefined: the bytes are not a message.
 */
function fieldsOf(bytes: Uint8Array, start: number, end: number): Fields | undefined {
  const fields: Partial<Record<number, readonly [start: number, end: number]>> = {};
  const { outcome } = walkFields(
    bytes,
    (field, from, to, wireType) => {
      if (field <= RESOURCE && wireType === WireType.LENGTH_DELIMITED) fields[field] = [from, to];
      return true;
    },
    { start, end },
  );
  return outcome === "complete" ? fields : undefined;
}

function textOf(
  bytes: Uint8Array,
  range: readonly [start: number, end: number] | undefined,
): string {
  return range === undefined ? "" : decodeText(bytes, ...range);
}
