import { contentVersion } from "@xdstp/cache";
import { describe, expect, it } from "vitest";
import { escapeJson, escapeText, formatAge, shortVersion } from "./short-text.ts";

const versionOf = (text: string): string =>
  contentVersion({ payload: { typeUrl: "type.googleapis.com/a.B", value: Buffer.from(text) } });

describe("shortVersion()", () => {
  it("shows eight digits of versions that are hashes: our own, and those in hexadecimal of others", () => {
    for (const text of ["1", "2", "3"])
      expect(shortVersion(versionOf(text))).toBe(versionOf(text).slice(0, 8));
    expect(["0123456789abcdef".repeat(2), "0123456789abcdef".repeat(4)].map(shortVersion)).toEqual([
      "01234567",
      "01234567",
    ]);
  });

  it.each(["1", "v17", "release-2026-11-22-no3", "2026-11-22T10:30:00Z", "RELEASE-2026-11-22-NO3"])(
    "shows a label whole: %s",
    (label) => {
      expect(shortVersion(label)).toBe(label);
    },
  );

  it("cuts long labels, says of none that it is none, and commands no terminal", () => {
    expect([
      shortVersion("release-2026-11-22-of-the-west"),
      shortVersion(""),
      shortVersion("\u001B[2J"),
    ]).toEqual(["release-2026-11-22-of-th", "none", "\\u{1b}[2J"]);
  });
});

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

describe("formatAge()", () => {
  it.each([
    [0, "0s"],
    [999, "0s"],
    [59_999, "59s"],
    [60_000, "1m"],
    [3_599_999, "59m"],
    [3_600_000, "1h"],
    [86_399_999, "23h"],
    [86_400_000, "1d"],
    [1e12, "11574d"],
    [-5, "0s"],
  ])("%d ms is %s", (ms, text) => {
    expect(formatAge(ms)).toBe(text);
  });
});
