import { describe, expect, it } from "vitest";
import { cutStart, cutText, fitText, textWidth, wrapText } from "./fit-text.ts";

describe("cutText()", () => {
  it.each([
    ["abc", 3, "abc"],
    ["abcd", 3, "ab…"],
    ["abc", 1, "…"],
    ["abc", 0, ""],
    ["", 0, ""],
    ["東京", 4, "東京"],
    ["東京都", 5, "東京…"],
    ["東京都", 4, "東…"],
    ["😀😀", 3, "😀…"],
  ])("%j in %d columns is %j", (text, width, cut) => {
    expect(cutText(text, width)).toBe(cut);
  });

  it("is never wider than asked, whatever the text", () => {
    for (const text of [
      "aé東😀e\u0301".repeat(5),
      "한국어",
      "\u{20000}\u{20000}",
      "e\u0301\u0301\u0301\u0301",
    ]) {
      for (let width = 0; width < 30; width++)
        expect(textWidth(cutText(text, width))).toBeLessThanOrEqual(width);
    }
  });
});

describe("cutStart()", () => {
  it.each([
    ["abcd", 4, "abcd"],
    ["abcd", 3, "…cd"],
    ["東京都", 5, "…京都"],
  ])("%j in %d columns is %j", (text, width, cut) => {
    expect(cutStart(text, width)).toBe(cut);
  });
});

describe("fitText()", () => {
  it.each([
    ["ab", 4, "ab  "],
    ["東", 4, "東  "],
    ["abcde", 4, "abc…"],
  ])("%j in %d columns is %j", (text, width, fitted) => {
    expect(fitText(text, width)).toBe(fitted);
  });
});

describe("wrapText()", () => {
  it.each([
    ["abc", 3, 2, ["abc"]],
    ["abcdef", 3, 2, ["abc", "def"]],
    ["abcdefg", 3, 2, ["abc", "de…"]],
    ["東京都", 4, 3, ["東京", "都"]],
    ["", 3, 3, [""]],
  ])("%j in %d columns and %d lines", (text, width, lines, wrapped) => {
    expect(wrapText(text, width, lines)).toEqual(wrapped);
  });

  it("ends where nothing fits", () => {
    expect(wrapText("東京都", 1, 3)).toHaveLength(3);
    expect(wrapText("abc", 0, 3)).toHaveLength(3);
  });
});
