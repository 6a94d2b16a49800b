import { describe, expect, it } from "vitest";
import { escapeJson, escapeText } from "./escape-text.ts";

describe("escapeText()", () => {
  it.each([
    ["a command for the terminal", "a\u001b[2Jb", "a\\u{1b}[2Jb"],
    ["a control character of eight bits", "a\u009b31mb", "a\\u{9b}31mb"],
    ["bell, backspace and delete", "\u0007\b\u007f", "\\u{7}\\u{8}\\u{7f}"],
    ["what turns the line around", "a\u202eb\u2066c", "a\\u{202e}b\\u{2066}c"],
    ["half a character", "a\ud83d", "a\\u{d83d}"],
    ["NUL", "a\u0000b", "a\\u{0}b"],
  ])("shows %s as its number [S-ACK-15]", (_, text, shown) => {
    expect(escapeText(text)).toBe(shown);
  });

  it("makes one line of many [S-ACK-15]", () => {
    expect(escapeText("a\nb\r\n\tc\u2028d\u0085e")).toBe("a b c d\\u{85}e");
  });

  it("leaves text of people alone", () => {
    expect(escapeText("Größe 東京 😀 é \\u{1b}")).toBe("Größe 東京 😀 é \\u{1b}");
  });
});

describe("escapeJson()", () => {
  it("escapes what JSON leaves as it is and a terminal obeys, and means the same [S-ACK-15]", () => {
    const value = { text: "\u001b[2J\u009b31m\u007f\u202e\u2028\ufeff", emoji: "😀" };
    const json = escapeJson(JSON.stringify(value));
    expect(json).toBe(
      String.raw`{"text":"\u001b[2J\u009b31m\u007f\u202e\u2028\ufeff","emoji":"😀"}`,
    );
    expect(JSON.parse(json)).toEqual(value);
  });

  it.each([
    ["the mark of Arabic letters", "a\u061cb", String.raw`"a\u061cb"`],
    ["a character of the tags, which nothing shows", "a\u{e0041}b", String.raw`"a\udb40\udc41b"`],
  ])("escapes %s [S-ACK-15]", (_, text, json) => {
    expect(escapeJson(JSON.stringify(text))).toBe(json);
    expect(JSON.parse(json)).toBe(text);
  });
});
