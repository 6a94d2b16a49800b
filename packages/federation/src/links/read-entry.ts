import type { AnyBytes, Fault, Resource } from "@xdstp/core";
import { memberTypeOf } from "@xdstp/uri";

import { readList, type InlineEntry } from "../list/read-list.ts";

/** Inline entries by name, or what is wrong with the list. */
type Read = ReadonlyMap<string, InlineEntry> | Fault;

/** A list is read once for any number of its entries. */
const known = new WeakMap<AnyBytes, Read>();

/** Returns the inline entry of a list that a directive names (C-LIST-7), as a resource. undefined: the list does not have this entry. Returns a fault for an invalid list. */
export function readEntry(
  { payload, ...list }: Resource,
  entry: string,
): Resource | Fault | undefined {
  const read = known.get(payload) ?? entriesOf(payload);
  known.set(payload, read);
  if ("text" in read) return read;
  const found = read.get(entry);
  return found === undefined
    ? undefined
    : { ...list, version: found.version, payload: found.payload };
}

function entriesOf(payload: AnyBytes): Read {
  const memberTypeUrl = memberTypeOf(payload.typeUrl);
  if (memberTypeUrl === undefined)
    return {
      text: `it is a ${JSON.stringify(payload.typeUrl)}, which is not a list`,
      rule: "B-LIST-1",
    };
  const read = readList(payload, memberTypeUrl);
  return "text" in read
    ? read
    : new Map(read.flatMap((one) => (one.kind === "inline" ? [[one.name, one] as const] : [])));
}
