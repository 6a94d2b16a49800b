import { BinaryWriter, WireType as Wire } from "@bufbuild/protobuf/wire";
import { describe, expect, it } from "vitest";
import { varintValue } from "./varint.ts";
import { walkFields, WireType, type FieldRange, type FieldWalk } from "./walk-fields.ts";

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
  range?: FieldRange,
): { readonly seen: readonly Seen[]; readonly walk: FieldWalk } {
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
