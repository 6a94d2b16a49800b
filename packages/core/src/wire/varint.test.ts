import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import { describe, expect, it } from "vitest";
import { varintEnd, varintLength, varintValue, writeVarint } from "./varint.ts";

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
