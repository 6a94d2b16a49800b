import fc from "fast-check";

/** Any character of Unicode. The "binary" unit of fast-check takes a second to build. */
export const character: fc.Arbitrary<string> = fc
  .integer({ min: 0, max: 0x10f7ff })
  .map((code) => String.fromCodePoint(code < 0xd800 ? code : code + 0x800));
