import { describe, expect, it } from "vitest";
import { decodeSegment } from "./place.ts";

describe("decodeSegment()", () => {
  for (const [segment, decoded] of [
    ["a", "a"],
    ["a%2Fb", "a/b"],
    ["100%25", "100%"],
    ["%C3%A9", "é"],
    ["é", "é"],
    ["%2a+", "*+"],
    ["%5Fopaque", "_opaque"],
  ] as const) {
    it(`reads ${segment} as ${decoded} [N-05]`, () => {
      expect(decodeSegment(segment)).toBe(decoded);
    });
  }
  for (const segment of ["100%", "%2", "%zz", "a%2gb"]) {
    it(`rejects the bad escape in ${segment}, and says how a percent sign is written [N-05]`, () => {
      expect(() => decodeSegment(segment)).toThrow("is not an escape");
    });
  }
  it("rejects escapes that are not UTF-8 [N-06]", () => {
    expect(() => decodeSegment("%FF")).toThrow("not UTF-8");
  });
  it("rejects a file name whose bytes are not UTF-8 [N-06]", () => {
    expect(() => decodeSegment("a\uFFFD")).toThrow("not UTF-8");
  });
});
