import { decodeText, walkFields, WireType } from "@xdstp/core";

/** Of every list collection, whatever the field is called (B-LIST-1). */
const ENTRIES = 1;
/** Of `xds.core.v3.CollectionEntry`. */
const LOCATOR = 1;
const INLINE = 2;
/** Of `CollectionEntry.InlineEntry`. */
const NAME = 1;
const RESOURCE = 3;
/** Of `google.protobuf.Any`. */
const TYPE_URL = 1;

/**
 * What is wrong with the entries of a list collection: one that is neither a locator nor inline (B-LIST-3), a name that occurs twice, a payload of another type than its members have (B-LIST-4).
 * undefined: nothing.
 */
export function listFault(payload: Uint8Array, memberTypeUrl: string): string | undefined {
  const names = new Set<string>();
  let count = 0;
  let fault: string | undefined;
  const { outcome } = walkFields(payload, (field, start, end, wireType) => {
    if (field !== ENTRIES) return true;
    count++;
    fault = wireType === WireType.LENGTH_DELIMITED ? entryFault(payload, start, end, memberTypeUrl, names) : "is no message";
    return fault === undefined;
  });
  if (fault !== undefined) return `entry ${count} of the list ${fault}`;
  return outcome === "complete" ? undefined : "it is no list of collection entries";
}

function entryFault(bytes: Uint8Array, start: number, end: number, memberTypeUrl: string, names: Set<string>): string | undefined {
  const { [LOCATOR]: locator, [INLINE]: inline } = fieldsOf(bytes, start, end);
  if (inline === undefined) return locator === undefined ? "is neither a locator nor inline (B-LIST-3); give it one of the two" : undefined;
  const { [NAME]: name, [RESOURCE]: resource } = fieldsOf(bytes, ...inline);
  const text = name === undefined ? "" : decodeText(bytes, ...name);
  if (text !== "" && names.has(text)) return `has the name ${JSON.stringify(text)} for a second time (B-LIST-4); name it otherwise`;
  names.add(text);
  const typeUrl = resource === undefined ? undefined : fieldsOf(bytes, ...resource)[TYPE_URL];
  const type = typeUrl === undefined ? "" : decodeText(bytes, ...typeUrl);
  return type === memberTypeUrl ? undefined : `has a payload of type ${JSON.stringify(type)} (B-LIST-4); it has to be ${memberTypeUrl}`;
}

/** Where the last of each field lies that is a message or text. */
function fieldsOf(bytes: Uint8Array, start: number, end: number): Readonly<Partial<Record<number, readonly [start: number, end: number]>>> {
  const fields: Partial<Record<number, readonly [start: number, end: number]>> = {};
  walkFields(bytes, (field, from, to, wireType) => {
    if (wireType === WireType.LENGTH_DELIMITED) fields[field] = [from, to];
    return true;
  }, { start, end });
  return fields;
}
