import { describe, expect, it } from "vitest";
import { isText } from "./is-text.ts";

const bytes = Buffer.from("..abc..");

describe("isText()", () => {
  it.each([
    ["abc", 2, 5, true],
    ["", 2, 2, true],
    ["ab", 2, 5, false],
    ["abcd", 2, 5, false],
    ["xbc", 2, 5, false],
    ["abx", 2, 5, false],
    ["\u0161bc", 2, 5, false],
  ])("compares %j with the bytes from %i to %i", (text, start, end, expected) => {
    expect(isText(bytes, start, end, text)).toBe(expected);
  });
});
