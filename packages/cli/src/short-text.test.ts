import { contentVersion } from "@xdstp/cache";
import { describe, expect, it } from "vitest";
import { shortVersion } from "./short-text.ts";

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
