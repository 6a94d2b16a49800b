import { describe, expect, it } from "vitest";
import { canonicalJson } from "./documents-of.ts";

describe("canonicalJson()", () => {
  it("sorts the keys of objects at any depth and leaves lists as they are [S-VER-4]", () => {
    const value = { b: [{ z: 1, y: 2 }, 1], a: { d: null, c: "x" } };
    expect(JSON.stringify(canonicalJson(value, 100))).toBe(
      '{"a":{"c":"x","d":null},"b":[{"y":2,"z":1},1]}',
    );
  });
  it("sorts by code points, not by UTF-16 units", () => {
    const value = { "\u{1F600}": 1, "\uFF01": 2, a: 3, ab: 4 };
    expect(Object.keys(canonicalJson(value, 100) as object)).toEqual([
      "a",
      "ab",
      "\uFF01",
      "\u{1F600}",
    ]);
  });
  it("keeps a key called __proto__", () => {
    expect(JSON.stringify(canonicalJson(JSON.parse('{"__proto__":{"a":1}}'), 100))).toBe(
      '{"__proto__":{"a":1}}',
    );
  });
  it("rejects a value that aliases make enormous, without building it", () => {
    let bomb: unknown = "x";
    for (let i = 0; i < 30; i++) bomb = [bomb, bomb];
    expect(() => canonicalJson(bomb, 1_000)).toThrow("enormous");
  });
  it("takes as many values as it may, and no more", () => {
    expect(canonicalJson([1, 2], 3)).toEqual([1, 2]);
    expect(() => canonicalJson([1, 2], 2)).toThrow("enormous");
  });
});
