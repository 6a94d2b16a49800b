import { describe, expect, it } from "vitest";
import { createRandom, scaled, seed } from "../../test/random.ts";
import { hashBytes } from "./hash-bytes.ts";

const hash = (bytes: Uint8Array): number => hashBytes(bytes, 0, bytes.length);

describe("hashBytes()", () => {
  it("depends on the bytes of the range and on nothing around it", () => {
    const around = Uint8Array.of(9, 9, 1, 2, 3, 4, 5, 9);
    expect(hashBytes(around, 2, 7)).toBe(hash(Uint8Array.of(1, 2, 3, 4, 5)));
    expect(hashBytes(around, 2, 7)).not.toBe(hashBytes(around, 2, 6));
  });

  it("is a whole number of at most 53 bits that uses the upper ones", () => {
    const hashes = Array.from({ length: 256 }, (_, byte) => hash(Uint8Array.of(byte)));
    expect(hashes.every((value) => Number.isSafeInteger(value) && value >= 0)).toBe(true);
    expect(Math.max(...hashes)).toBeGreaterThan(2 ** 52);
  });

  it("differs for every length of zeros", () => {
    const lengths = 2000;
    expect(
      new Set(Array.from({ length: lengths }, (_, length) => hash(new Uint8Array(length)))).size,
    ).toBe(lengths);
  });

  it("differs for every pair of changed bytes, also where both lie at the top of a word", () => {
    const seen = new Set<number>();
    for (let a = 0; a < 256; a++) {
      for (let b = 0; b < 256; b++) seen.add(hash(Uint8Array.of(1, 2, 3, a, 5, 6, 7, b)));
    }
    expect(seen.size).toBe(256 * 256);
  });

  it("has no collision among random lists with a name changed, swapped or left out", () => {
    const random = createRandom(seed);
    const seen = new Map<number, string>();
    for (let i = 0; i < scaled(1_000_000); i++) {
      const names = Array.from({ length: 1 + random.int(4) }, () => `n${random.int(1000)}`).join(
        ",",
      );
      const value = hash(Buffer.from(names));
      expect(seen.get(value) ?? names, `seed ${seed}`).toBe(names);
      seen.set(value, names);
    }
  });
});
