import { describe, expect, it } from "vitest";
import { added as entryOf, removed } from "../../test/entries.ts";
import type { Entry } from "@xdstp/core";
import { addHash, hashOf, versionOf } from "./version-of.ts";

const MODULUS = 2 ** 52;

function added(name: string, { hash }: { readonly hash: number }): Entry {
  const entry = entryOf(name);
  return { ...entry, ...(entry.resource && { resource: { ...entry.resource, hash } }) };
}

describe("addHash()", () => {
  it("adds and takes away modulo 2^52, and never leaves the range", () => {
    expect(addHash(MODULUS - 1, 1)).toBe(0);
    expect(addHash(MODULUS - 1, 5)).toBe(4);
    expect(addHash(0, -1)).toBe(MODULUS - 1);
    expect(addHash(7, -7)).toBe(0);
    expect(addHash(addHash(3, MODULUS - 1), -(MODULUS - 1))).toBe(3);
  });

  it("loses no bit of large hashes, so that no order of adding matters [S-VER-4]", () => {
    expect(addHash(MODULUS - 2, MODULUS - 1)).toBe(MODULUS - 3);
    expect(addHash(addHash(0, MODULUS - 2), MODULUS - 1)).toBe(
      addHash(addHash(0, MODULUS - 1), MODULUS - 2),
    );
  });
});

describe("hashOf()", () => {
  it("is the sum over what exists, in any order [S-VER-4]", () => {
    const [a, b] = [added("a", { hash: MODULUS - 7 }), added("b", { hash: 9_876_543_210 })];
    expect(hashOf([])).toBe(0);
    expect(hashOf([removed("gone")])).toBe(0);
    expect(hashOf([a])).toBe(a.resource?.hash);
    expect(hashOf([a, b])).toBe(addHash(a.resource?.hash ?? 0, b.resource?.hash ?? 0));
    expect(hashOf([b, removed("gone"), a])).toBe(hashOf([a, b]));
  });
});

describe("versionOf()", () => {
  it("is never empty, and differs where sums differ [S-VER-7]", () => {
    expect(versionOf(0)).not.toBe("");
    expect(new Set([0, 1, 35, 36, MODULUS - 1].map(versionOf)).size).toBe(5);
  });

  it("is the sum in base 36, also where a half of it begins with zeros [S-VER-2]", () => {
    const five = 36 ** 5;
    for (const sum of [0, five - 1, five, five + 1, 36 * five, MODULUS - 1])
      expect(versionOf(sum)).toBe(sum.toString(36));
  });
});
