import { create, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { describe, expect, it } from "vitest";
import { readRedirect, ResourceLocator_Scheme, ResourceLocatorSchema } from "./index.ts";

const text = "xdstp://a/envoy.config.cluster.v3.Cluster/b";

describe("readRedirect()", () => {
  it("reads the message form [N-82]", () => {
    const locator = create(ResourceLocatorSchema, {
      scheme: ResourceLocator_Scheme.HTTP,
      id: "b",
      authority: "a",
    });
    const read = readRedirect(toBinary(ResourceLocatorSchema, locator));
    expect(read).toEqual({ ok: true, value: { form: "message", message: locator } });
  });

  it("reads the message form without its first field, as it is for the scheme xdstp [N-82]", () => {
    const locator = create(ResourceLocatorSchema, { id: "b", authority: "a", resourceType: "t" });
    const read = readRedirect(toBinary(ResourceLocatorSchema, locator));
    expect(read).toEqual({ ok: true, value: { form: "message", message: locator } });
  });

  it("reads the text form [N-82]", () => {
    expect(readRedirect(textForm(text))).toEqual({ ok: true, value: { form: "text", text } });
  });

  it("reads the text form behind fields that it does not know", () => {
    const bytes = new BinaryWriter()
      .tag(99, WireType.Varint)
      .uint32(7)
      .tag(1, WireType.LengthDelimited)
      .string(text)
      .finish();
    expect(readRedirect(bytes)).toEqual({ ok: true, value: { form: "text", text } });
  });

  it("reads an empty value as the message without a field", () => {
    const read = readRedirect(new Uint8Array());
    expect(read).toEqual({
      ok: true,
      value: { form: "message", message: create(ResourceLocatorSchema) },
    });
  });

  it.each([
    ["a truncated text", textForm(text).subarray(0, 9)],
    [
      "a text that is not UTF-8",
      new BinaryWriter()
        .tag(1, WireType.LengthDelimited)
        .bytes(new Uint8Array([0xff, 0xfe]))
        .finish(),
    ],
    ["a tag of field 0", new Uint8Array([0x00, 0x01])],
    ["a tag that does not end", new Uint8Array([0xff, 0xff])],
    ["an unknown wire type", new Uint8Array([0x0f])],
    [
      "an id that is not a text",
      new BinaryWriter()
        .tag(2, WireType.LengthDelimited)
        .bytes(new Uint8Array([0xff]))
        .finish(),
    ],
  ])("gives the reason for %s and does not throw", (_, bytes) => {
    expect(readRedirect(bytes)).toEqual({
      ok: false,
      reason: expect.stringMatching(/./) as string,
    });
  });
});

function textForm(locator: string): Uint8Array {
  return new BinaryWriter().tag(1, WireType.LengthDelimited).string(locator).finish();
}
