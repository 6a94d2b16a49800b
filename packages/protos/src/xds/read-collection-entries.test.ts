import type { MessageInitShape } from "@bufbuild/protobuf";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { describe, expect, it } from "vitest";
import { envoyRegistry } from "../envoy/index.ts";
import type { CollectionEntrySchema } from "./index.ts";
import { CollectionEntry_InlineEntrySchema, ListCollectionSchema, readCollectionEntries, ResourceLocatorSchema } from "./index.ts";

const locator = { id: "b", authority: "a", resourceType: "t" };
const inline = { name: "one", version: "1" };

describe("readCollectionEntries()", () => {
  it("reads locators and inline entries in their order", () => {
    const bytes = collection([
      { resourceSpecifier: { case: "inlineEntry", value: inline } },
      { resourceSpecifier: { case: "locator", value: locator } },
    ]);
    expect(readCollectionEntries(bytes)).toEqual({
      ok: true,
      value: [
        { form: "inline", entry: create(CollectionEntry_InlineEntrySchema, inline) },
        { form: "message", message: create(ResourceLocatorSchema, locator) },
      ],
    });
  });

  it.each(["xdstp://a/t/b", "xdstp:/t/b", "http://a/t/b", "file:///b.yaml", "xdstp:"])("reads the text form %s [N-82]", (text) => {
    expect(readCollectionEntries(textEntry(text))).toEqual({ ok: true, value: [{ form: "text", text }] });
  });

  it.each(["Listener", "Cluster", "LbEndpoint"])("reads what Envoy's own message for collections of %s holds", (type) => {
    const names = { Listener: "listener", Cluster: "cluster", LbEndpoint: "endpoint" } as const;
    const schema = envoyRegistry().getMessage(`envoy.config.${names[type as keyof typeof names]}.v3.${type}Collection`);
    if (schema === undefined) throw new Error(`no collection of ${type}`);
    const bytes = collection([{ resourceSpecifier: { case: "locator", value: locator } }]);
    const rewritten = toBinary(schema, fromBinary(schema, bytes));
    expect(readCollectionEntries(rewritten)).toEqual({
      ok: true,
      value: [{ form: "message", message: create(ResourceLocatorSchema, locator) }],
    });
  });

  it("reads an empty collection", () => {
    expect(readCollectionEntries(new Uint8Array())).toEqual({ ok: true, value: [] });
  });

  it("passes over fields that it does not know", () => {
    const bytes = new BinaryWriter().tag(2, WireType.Varint).uint32(1).raw(textEntry("xdstp:/t/b")).finish();
    expect(readCollectionEntries(bytes)).toEqual({ ok: true, value: [{ form: "text", text: "xdstp:/t/b" }] });
  });

  it("lets the last of a oneof count, whatever its form", () => {
    const text = new BinaryWriter().tag(1, WireType.LengthDelimited).string("xdstp:/t/b").finish();
    const resource = new BinaryWriter().tag(2, WireType.LengthDelimited).bytes(toBinary(CollectionEntry_InlineEntrySchema, create(CollectionEntry_InlineEntrySchema, inline))).finish();
    const entry = { form: "inline", entry: create(CollectionEntry_InlineEntrySchema, inline) };
    expect(readCollectionEntries(entryOf(text, resource))).toEqual({ ok: true, value: [entry] });
    expect(readCollectionEntries(entryOf(resource, text))).toEqual({ ok: true, value: [{ form: "text", text: "xdstp:/t/b" }] });
  });

  it.each([
    ["an entry with nothing in it", entryOf(), /^entry 2: .*neither a locator nor an inline entry/],
    ["an entry that is a number", new BinaryWriter().tag(1, WireType.Varint).uint32(1).finish(), /^entry 2 is not a message/],
    ["a text that is not UTF-8", entryOf(new Uint8Array([0x0a, 7, ...Buffer.from("xdstp:"), 0xff])), /^entry 2: /],
    ["a truncated locator", entryOf(new Uint8Array([0x0a, 9, 0x12])), /^entry 2: /],
    ["a truncated entry", new Uint8Array([0x0a, 9, 0x12]), /./],
  ])("names the entry in the reason for %s, and does not throw", (_, bad, reason) => {
    const bytes = Buffer.concat([textEntry("xdstp:/t/b"), bad]);
    expect(readCollectionEntries(bytes)).toEqual({ ok: false, reason: expect.stringMatching(reason) as string });
  });
});

function collection(entries: readonly MessageInitShape<typeof CollectionEntrySchema>[]): Uint8Array {
  return toBinary(ListCollectionSchema, create(ListCollectionSchema, { entries: [...entries] }));
}

function textEntry(text: string): Uint8Array {
  return entryOf(new BinaryWriter().tag(1, WireType.LengthDelimited).string(text).finish());
}

function entryOf(...fields: readonly Uint8Array[]): Uint8Array {
  return new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(Buffer.concat(fields)).finish();
}
