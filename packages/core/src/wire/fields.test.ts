import { BinaryReader, BinaryWriter, WireType as Wire } from "@bufbuild/protobuf/wire";
import { describe, expect, it } from "vitest";

import { decodeText } from "#platform";
import {
  concatBytes,
  lengthDelimited,
  varintEnd,
  varintLength,
  varintValue,
  walkFields,
  WireType,
  writeVarint,
} from "./fields.ts";

const message = new BinaryWriter()
  .tag(1, Wire.LengthDelimited)
  .string("one")
  .tag(2, Wire.Varint)
  .uint32(300)
  .tag(3, Wire.Bit32)
  .fixed32(7)
  .tag(4, Wire.Bit64)
  .fixed64(7n)
  .tag(5, Wire.Varint)
  .int32(-1)
  .tag(1000, Wire.LengthDelimited)
  .bytes(Uint8Array.of(0x08, 0x01))
  .finish();

type Seen = readonly [field: number, wireType: number, value: string];

function collect(
  bytes: Uint8Array,
  range?: Parameters<typeof walkFields>[2],
): { readonly seen: readonly Seen[]; readonly walk: ReturnType<typeof walkFields> } {
  const seen: Seen[] = [];
  const walk = walkFields(
    bytes,
    (field, start, end, wireType) => {
      seen.push([field, wireType, Buffer.from(bytes.subarray(start, end)).toString("hex")]);
      return true;
    },
    range,
  );
  return { seen, walk };
}

describe("walkFields()", () => {
  it("visits fields of every wire type in their order", () => {
    const { seen, walk } = collect(message);
    expect(seen).toEqual([
      [1, WireType.LENGTH_DELIMITED, "6f6e65"],
      [2, WireType.VARINT, "ac02"],
      [3, WireType.FIXED32, "07000000"],
      [4, WireType.FIXED64, "0700000000000000"],
      [5, WireType.VARINT, "ffffffffffffffffff01"],
      [1000, WireType.LENGTH_DELIMITED, "0801"],
    ]);
    expect(walk).toEqual({ outcome: "complete", at: message.length });
  });

  it("walks a nested message in its own range, also from within a walk", () => {
    let inner: readonly Seen[] = [];
    walkFields(message, (field, start, end) => {
      if (field === 1000) inner = collect(message, { start, end }).seen;
      return true;
    });
    expect(inner).toEqual([[1, WireType.VARINT, "01"]]);
  });

  it("ends where the visitor says so", () => {
    let visits = 0;
    expect(walkFields(message, () => ++visits < 2)).toEqual({ outcome: "ended", at: 5 });
    expect(visits).toBe(2);
  });

  it("says of every shorter message where the field begins that is cut off", () => {
    const starts = [0];
    walkFields(message, (_field, _start, end) => {
      starts.push(end);
      return true;
    });
    for (let length = 0; length < message.length; length++) {
      const begun = Math.max(...starts.filter((start) => start <= length));
      const outcome = begun === length ? "complete" : "truncated";
      expect(collect(message.subarray(0, length)).walk).toEqual({ outcome, at: begun });
    }
  });

  it("keeps within its range, however long a field says it is", () => {
    expect(collect(message, { start: 0, end: 4 })).toEqual({
      seen: [],
      walk: { outcome: "truncated", at: 0 },
    });
    expect(collect(message, { end: 1_000_000 }).walk.outcome).toBe("complete");
  });

  it.each([
    ["a group", [0x0b, 0x0c]],
    ["the end of a group", [0x0c]],
    ["wire type 6", [0x0e]],
    ["field 0", [0x02, 0x00]],
    ["a tag above 32 bits", [0x8a, 0x80, 0x80, 0x80, 0x10, 0x00]],
    ["a tag of eleven bytes", [...Array.from({ length: 10 }, () => 0x80), 1]],
    ["a length of eleven bytes", [0x0a, ...Array.from({ length: 10 }, () => 0x80), 1]],
  ])("stops at %s", (_what, bytes) => {
    const behind = Uint8Array.of(0x10, 0x01, ...bytes);
    expect(collect(behind)).toEqual({
      seen: [[2, WireType.VARINT, "01"]],
      walk: { outcome: "malformed", at: 2 },
    });
  });

  it("reads the largest field number", () => {
    const bytes = new BinaryWriter().tag(536_870_911, Wire.Varint).uint32(1).finish();
    expect(collect(bytes).seen).toEqual([[536_870_911, WireType.VARINT, "01"]]);
  });

  it("gives varints to read by value", () => {
    let value = 0;
    walkFields(message, (field, start, end) => {
      if (field === 2) value = varintValue(message, start, end);
      return true;
    });
    expect(value).toBe(300);
  });
});

const values = [
  0,
  1,
  127,
  128,
  16383,
  16384,
  2 ** 21,
  2 ** 28 - 1,
  2 ** 31,
  2 ** 32 - 1,
  2 ** 32,
  2 ** 53 - 1,
];

describe("writeVarint()", () => {
  it.each(values)("writes %d as every encoder does", (value) => {
    const target = new Uint8Array(10);
    const end = writeVarint(target, 0, value);
    expect(target.subarray(0, end)).toEqual(new BinaryWriter().uint64(BigInt(value)).finish());
    expect(varintLength(value)).toBe(end);
  });
});

describe("varintValue()", () => {
  it.each(values)("reads %d where it lies", (value) => {
    const bytes = Uint8Array.of(0xff, ...new BinaryWriter().uint64(BigInt(value)).finish(), 0xff);
    const end = varintEnd(bytes, 1, bytes.length);
    expect(end).toBe(bytes.length - 1);
    expect(varintValue(bytes, 1, end)).toBe(value);
    expect(new BinaryReader(bytes.subarray(1)).uint64()).toBe(BigInt(value));
  });

  it("reads what is longer than it need be", () => {
    expect(varintValue(Uint8Array.of(0x81, 0x80, 0x00), 0, 3)).toBe(1);
  });
});

describe("varintEnd()", () => {
  it("says -1 where the varint goes on behind the end", () => {
    expect(varintEnd(Uint8Array.of(0x80, 0x80, 0x01), 0, 2)).toBe(-1);
    expect(varintEnd(new Uint8Array(), 0, 0)).toBe(-1);
  });

  it("says -1 behind ten bytes", () => {
    const bytes = new Uint8Array(11).fill(0x80);
    bytes[10] = 1;
    expect(varintEnd(bytes, 0, 11)).toBe(-1);
    expect(varintEnd(bytes, 1, 11)).toBe(11);
  });
});

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
    const expected = new BinaryWriter().tag(field, Wire.LengthDelimited).string(value).finish();
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
