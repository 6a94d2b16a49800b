import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { describe, expect, it } from "vitest";
import { decodeText } from "./decode-text.ts";
import { concatBytes, lengthDelimited } from "./length-delimited.ts";

const text = new TextEncoder();

describe("lengthDelimited()", () => {
  it.each([
    [1, ""],
    [5, "42"],
    [15, "x".repeat(127)],
    [16, "x".repeat(128)],
    [2, "näme"],
    [536_870_911, "x".repeat(20_000)],
  ])("writes field %d as every encoder does", (field, value) => {
    const expected = new BinaryWriter().tag(field, WireType.LengthDelimited).string(value).finish();
    expect(lengthDelimited(field, value)).toEqual(expected);
    expect(lengthDelimited(field, text.encode(value))).toEqual(expected);
  });

  it("has a buffer of its own", () => {
    const field = lengthDelimited(1, "a");
    expect(field.buffer.byteLength).toBe(field.length);
  });
});

describe("concatBytes()", () => {
  it("joins parts in their order", () => {
    expect(concatBytes([Uint8Array.of(1, 2), new Uint8Array(), Uint8Array.of(3)])).toEqual(
      Uint8Array.of(1, 2, 3),
    );
  });

  it("makes nothing of nothing", () => {
    expect(concatBytes([])).toEqual(new Uint8Array());
  });
});

describe("decodeText()", () => {
  it("reads the text of a range", () => {
    expect(decodeText(text.encode("-näme-"), 1, 6)).toBe("näme");
  });

  it("keeps a byte order mark, and replaces what is not UTF-8", () => {
    expect(decodeText(text.encode("\ufeffa"), 0, 4)).toBe("\ufeffa");
    expect(decodeText(Uint8Array.of(65, 0xff), 0, 2)).toBe("A\ufffd");
  });
});
