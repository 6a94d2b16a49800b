import { describe, expect, it } from "vitest";

import { hashWith, hashWithout, resourceHash } from "./resource-hash.ts";

describe("resourceHash()", () => {
  // Computed by an independent implementation with unlimited integers, written from the doc comment.
  const golden: readonly (readonly [name: string, version: string, hash: number])[] = [
    ["", "", 300264024576004],
    ["a", "1", 451090229630336],
    ["xdstp://foo/t.T/ns/a", "v1", 565968862313349],
    ["häuser/🏠", "", 1596269709486921],
  ];

  it.each(golden)("is the same for %j and %j in every release [S-VER-2]", (name, version, hash) => {
    expect(resourceHash(name, version)).toBe(hash);
  });

  it("tells the end of the name from the start of the version", () => {
    expect(resourceHash("ab", "c")).not.toBe(resourceHash("a", "bc"));
  });

  it("is a whole number below 2^52, and spreads", () => {
    const hashes = Array.from({ length: 10_000 }, (_, index) => resourceHash(`name-${index}`, "1"));
    expect(new Set(hashes).size).toBe(10_000);
    expect(hashes.every((hash) => Number.isInteger(hash) && hash >= 0 && hash < 2 ** 52)).toBe(
      true,
    );
    const upperHalf = hashes.filter((hash) => hash >= 2 ** 51).length;
    expect(Math.abs(upperHalf - 5000)).toBeLessThan(300);
  });
});

describe("hashWith()", () => {
  it("adds and takes away without loss, across the modulus", () => {
    const top = 2 ** 52 - 1;
    expect(hashWith(top, 1)).toBe(0);
    expect(hashWithout(0, 1)).toBe(top);
    expect(hashWithout(hashWith(top, top), top)).toBe(top);
  });
});
