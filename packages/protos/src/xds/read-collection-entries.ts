import { fromBinary } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import type { CollectionEntry_InlineEntry } from "../gen/xds/core/v3/collection_entry_pb.ts";
import { CollectionEntrySchema } from "../gen/xds/core/v3/collection_entry_pb.ts";
import type { Located } from "./located.ts";
import type { Read } from "./read.ts";
import { attempt } from "./read.ts";

/** One entry of a list collection: a locator in either form, or the resource itself. */
export type CollectionItem = Located | { readonly form: "inline"; readonly entry: CollectionEntry_InlineEntry };

/**
 * Reads the entries of a list collection of any type: all have them in field 1, repeated or not. For readers of collections.
 *
 * An entry whose field 1 begins with `xdstp:`, `http:` or `file:` is the text form (N-82). Never throws: the reason names the entry, counted from 1. An entry with neither locator nor resource is refused.
 */
export function readCollectionEntries(bytes: Uint8Array): Read<readonly CollectionItem[]> {
  return attempt(() => {
    const items: CollectionItem[] = [];
    const reader = new BinaryReader(bytes);
    while (reader.pos < reader.len) {
      const [field, wireType] = reader.tag();
      if (field === 1) items.push(itemOf(entryBytes(reader, wireType, items.length), items.length));
      else reader.skip(wireType, field); // passes over what is none of an entry
    }
    return items;
  });
}

function entryBytes(reader: BinaryReader, wireType: WireType, index: number): Uint8Array {
  if (wireType === WireType.LengthDelimited) return reader.bytes();
  throw new Error(`entry ${index + 1} is not a message: it has wire type ${wireType}`);
}

function itemOf(bytes: Uint8Array, index: number): CollectionItem {
  const read = attempt(() => itemIn(bytes));
  if (read.ok) return read.value;
  throw new Error(`entry ${index + 1}: ${read.reason}`);
}

function itemIn(bytes: Uint8Array): CollectionItem {
  const { text, end } = lastText(bytes);
  if (text !== undefined) return { form: "text", text };
  const { resourceSpecifier } = fromBinary(CollectionEntrySchema, bytes.subarray(end));
  if (resourceSpecifier.case === "locator") return { form: "message", message: resourceSpecifier.value };
  if (resourceSpecifier.case === "inlineEntry") return { form: "inline", entry: resourceSpecifier.value };
  throw new Error("it has neither a locator nor an inline entry; give one of them");
}

interface LastText {
  /** The text form, if no other field of the oneof comes after it: the last one counts. */
  readonly text: string | undefined;
  /** Where the last text form ends. What comes after it is a CollectionEntry as the protos have it. */
  readonly end: number;
}

function lastText(bytes: Uint8Array): LastText {
  const reader = new BinaryReader(bytes);
  let last: LastText = { text: undefined, end: 0 };
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    const value = reader.skip(wireType, field); // passes over the field and gives its bytes
    if (wireType !== WireType.LengthDelimited || field > 2) continue;
    const text = field === 1 ? locatorText(new BinaryReader(value).bytes()) : undefined;
    last = { text, end: text === undefined ? last.end : reader.pos };
  }
  return last;
}

function locatorText(bytes: Uint8Array): string | undefined {
  const start = String.fromCharCode(...bytes.subarray(0, 6));
  if (!["xdstp:", "http:", "file:"].some((scheme) => start.startsWith(scheme))) return undefined;
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
}
