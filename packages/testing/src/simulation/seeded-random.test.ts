import { describe, expect, it } from "vitest";

import { createSeededRandom } from "./seeded-random.ts";

describe("createSeededRandom()", () => {
  it("gives the same numbers from the same seed, on every machine", () => {
    const numbers = (seed: number): readonly number[] => {
      const random = createSeededRandom(seed);
      return Array.from({ length: 5 }, () => random.below(1_000));
    };
    expect(numbers(1)).toEqual(numbers(1));
    expect(numbers(1)).not.toEqual(numbers(2));
    expect(numbers(1)).toEqual([314, 798, 613, 75, 904]);
  });

  it("spreads them evenly, and keeps to the limits", () => {
    const random = createSeededRandom(3);
    const counts = new Map<number, number>();
    for (let n = 0; n < 6_000; n++) {
      const drawn = random.between(1, 6);
      counts.set(drawn, (counts.get(drawn) ?? 0) + 1);
    }
    expect([...counts.keys()].sort()).toEqual([1, 2, 3, 4, 5, 6]);
    for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(150);
    expect(() => random.pick([])).toThrow("nothing to pick from");
  });

  it("gives a part numbers of its own, whatever the others have drawn", () => {
    const [one, other] = [createSeededRandom(5), createSeededRandom(5)];
    other.below(10);
    expect(one.fork(1).next()).toBe(other.fork(1).next());
    expect(one.fork(1).next()).not.toBe(one.fork(2).next());
  });
});
