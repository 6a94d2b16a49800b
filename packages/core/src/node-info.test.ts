import { describe, expect, it } from "vitest";

import { isDeeperThan } from "./node-info.ts";

describe("isDeeperThan()", () => {
  it.each([
    [1, 0, false],
    [null, 0, false],
    [{}, 0, false],
    [{ a: 1 }, 0, true],
    [{ a: 1 }, 1, false],
    [[1, { a: [] }], 1, true],
    [[1, { a: [] }], 2, false],
  ])("counts objects and lists: %j in %i levels is %s", (json, levels, isDeeper) => {
    expect(isDeeperThan(json, levels)).toBe(isDeeper);
  });

  it("does not overflow the stack", () => {
    expect(isDeeperThan(JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`), 50_000)).toBe(
      true,
    );
  });
});
