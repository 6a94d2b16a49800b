import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { cutText } from "./cut-text.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

describe("cutText()", () => {
  it.each([
    ["", 4, ""],
    ["abc", 4, "abc"],
    ["abcd", 4, "abcd"],
    ["abcde", 4, "abcd"],
    ["ab\u{1f600}", 3, "ab\ud83d"],
  ])("cuts %j at %d [S-ACK-15]", (text, atMost, expected) => {
    expect(cutText(text, atMost)).toBe(expected);
  });

  it("does not keep alive what was cut off [S-ACK-15]", () => {
    const bytes = new Uint8Array(4 << 20).fill(0x61);
    collect();
    const before = process.memoryUsage().external;
    const kept = Array.from({ length: 20 }, () => cutText(new TextDecoder().decode(bytes), 4_096));
    collect();
    expect(kept.map(({ length }) => length)).toEqual(kept.map(() => 4_096));
    expect(process.memoryUsage().external - before).toBeLessThan(2 * bytes.length);
  });
});
