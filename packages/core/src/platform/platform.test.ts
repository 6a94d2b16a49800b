import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import * as node from "./node.ts";
import * as web from "./web.ts";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
/** Texts with all kinds of UTF-16 units: ASCII, two and three bytes, pairs, and halves of pairs. */
const texts = fc.string({
  unit: fc.oneof(
    fc.constantFrom(
      "a",
      "\u007f",
      "\u0080",
      "ß",
      "\u07ff",
      "\u0800",
      "€",
      "\uffff",
      "\ufeff",
      "😀",
    ),
    fc.constantFrom("\ud800", "\udbff", "\udc00", "\udfff"),
  ),
});

describe.each([
  ["Node", node],
  ["the web", web],
])("the functions of %s", (_name, platform) => {
  it("encode texts as TextEncoder does", () => {
    fc.assert(
      fc.property(texts, (text) => {
        const expected = bytesOf(text);
        expect(platform.byteLength(text)).toBe(expected.length);
        expect([...platform.encodeText(text)]).toEqual([...expected]);
        const target = new Uint8Array(expected.length + 4).fill(1);
        platform.writeText(target, 2, text, expected.length);
        expect([...target]).toEqual([1, 1, ...expected, 1, 1]);
      }),
    );
  });

  it("decode a part of the bytes, and keep a byte order mark", () => {
    const bytes = bytesOf("x\ufeffpé€😀x");
    expect(platform.decodeText(bytes, 1, bytes.length - 1)).toBe("\ufeffpé€😀");
    expect(platform.decodeText(Uint8Array.of(0x61, 0xff, 0x62), 0, 3)).toBe("a\uFFFDb");
  });

  it("recognise UTF-8", () => {
    const bytes = Uint8Array.of(0xff, ...bytesOf("é"), 0xff);
    expect(platform.isUtf8(bytes, 1, 3)).toBe(true);
    expect(platform.isUtf8(bytes, 1, 4)).toBe(false);
    expect(platform.isUtf8(bytes, 1, 2)).toBe(false);
    expect(platform.isUtf8(bytes, 0, 0)).toBe(true);
  });

  it("turn bytes into characters one by one", () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    const text = platform.decodeLatin1(bytes.subarray(1));
    expect(Array.from(text, (char) => char.codePointAt(0))).toEqual([...bytes.subarray(1)]);
  });

  it("copy a text unit by unit, also a long one", () => {
    const text = "a\ud800😀".repeat(5_000);
    expect(platform.copyText(text)).toBe(text);
  });

  it("compare bytes", () => {
    expect(platform.equalBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 2))).toBe(true);
    expect(platform.equalBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 3))).toBe(false);
    expect(platform.equalBytes(Uint8Array.of(1, 2), Uint8Array.of(1))).toBe(false);
    expect(platform.equalBytes(Uint8Array.of(), Uint8Array.of())).toBe(true);
  });

  it("copy bytes, and give memory that nothing shares", () => {
    const bytes = Uint8Array.of(1, 2, 3);
    const copy = platform.copyBytes(bytes);
    bytes[0] = 9;
    expect([...copy]).toEqual([1, 2, 3]);
    const memory = platform.allocateBytes(7);
    expect(memory.length).toBe(7);
    expect(memory.buffer.byteLength).toBe(7);
  });

  it("call back in later turns, in order", async () => {
    const calls: string[] = [];
    const done = new Promise<void>((resolve) => {
      platform.nextTurn(() => calls.push("first"));
      platform.nextTurn(() => {
        calls.push("second");
        resolve();
      });
    });
    await Promise.resolve();
    expect(calls).toEqual([]);
    await done;
    expect(calls).toEqual(["first", "second"]);
  });

  describe("for timers", () => {
    beforeEach(() => {
      vi.useFakeTimers();
    });
    afterEach(() => {
      vi.useRealTimers();
    });

    it("call back once, or not if they are cancelled", () => {
      const calls: string[] = [];
      platform.startTimer(10, () => calls.push("kept"));
      const cancel = platform.startTimer(10, () => calls.push("cancelled"));
      cancel();
      vi.advanceTimersByTime(100);
      expect(calls).toEqual(["kept"]);
    });
  });
});

it("both platforms have the same functions", () => {
  expect(Object.keys(web).sort()).toEqual(Object.keys(node).sort());
});
