import { type ListEntry, walkList } from "@xdstp/core/wire";
import type { AnyBytes } from "@xdstp/core";
import type { Read } from "@xdstp/protos/xds";
import { collectionTypeOf, type Locator } from "@xdstp/uri";

import { readEntryLocator } from "./read-entry-locator.ts";

/** An entry that holds the resource itself. */
export interface InlineEntry {
  /** Its content is in the list. */
  readonly kind: "inline";
  /** Empty where it has none, so that nothing can refer to it (N-70). */
  readonly name: string;
  /** Empty: the list gives none. */
  readonly version: string;
  /** A view into the list. */
  readonly payload: AnyBytes;
}

/** An entry that says where the resource is. */
export interface LocatedEntry {
  /** It refers to a resource that is subscribed by its name. */
  readonly kind: "locator";
  /** Where the resource is. */
  readonly locator: Locator;
}

/** How a list is read. */
export interface ReadListOptions {
  /** How many entries it may have: who sends it is not trusted (C-LIM-7). Default: 100,000. */
  readonly maxEntries?: number;
  /** What is wrong with an inline entry next to its form, which then is a fault of the list. Default: nothing. */
  readonly faultOf?: (entry: InlineEntry) => string | undefined;
}

/** Reads the entries of a list collection in their order (B-LIST-1); or gives what is wrong with it, with the number of the entry (B-LIST-3, B-LIST-4). Never throws, unless `faultOf` does. */
export function readList(
  { typeUrl, value: bytes }: AnyBytes,
  memberTypeUrl: string,
  { maxEntries = 100_000, faultOf }: ReadListOptions = {},
): Read<readonly (InlineEntry | LocatedEntry)[]> {
  if (typeUrl !== collectionTypeOf(memberTypeUrl))
    return {
      ok: false,
      reason: `it is a ${JSON.stringify(typeUrl)}; a list of these is a ${collectionTypeOf(memberTypeUrl)} (B-LIST-1)`,
    };
  const value: (InlineEntry | LocatedEntry)[] = [];
  const reason = walkList(bytes, memberTypeUrl, (entry) => {
    if (value.length >= maxEntries)
      return `is one too many: at most ${maxEntries} are taken (C-LIM-7); list fewer, or raise maxEntries`;
    const read = readEntry(entry);
    if (typeof read === "string") return read;
    value.push(read);
    return read.kind === "inline" ? faultOf?.(read) : undefined;
  });
  return reason === undefined ? { ok: true, value } : { ok: false, reason };
}

function readEntry(entry: ListEntry): InlineEntry | LocatedEntry | string {
  if (entry.kind === "inline") return entry;
  const locator = readEntryLocator(entry.locator);
  return typeof locator === "string"
    ? `has a locator that cannot be read: ${locator}`
    : { kind: "locator", locator };
}
