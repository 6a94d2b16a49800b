import { describe, expect, it } from "vitest";
import { added, removed } from "../../test/entries.ts";
import { partition } from "./partition.ts";

describe("partition()", () => {
  it("tells additions and removals apart, each in its order", () => {
    const [a, b, c, d] = [added("a"), removed("b"), added("c"), removed("d")];
    expect(partition([a, b, c, d])).toEqual({ additions: [a, c], removals: [b, d] });
  });

  it("gives the same arrays for the same array, and the array itself where nothing is removed", () => {
    const mixed = [added("a"), removed("b")];
    expect(partition(mixed).additions).toBe(partition(mixed).additions);
    expect(partition(mixed).removals).toBe(partition(mixed).removals);
    const additions = [added("a")];
    expect(partition(additions).additions).toBe(additions);
    expect(partition([])).toEqual({ additions: [], removals: [] });
  });
});
