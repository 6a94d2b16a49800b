import { describe, expect, test } from "vitest";
import { createTally } from "./tally.ts";

describe("createTally()", () => {
  test("counts up to the limit of one key and of all [S-LIM-1]", () => {
    const tally = createTally(3, 2);
    expect([tally.add("a"), tally.add("a"), tally.add("a")]).toEqual([true, true, false]);
    expect([tally.add("b"), tally.add("b")]).toEqual([true, false]);
    tally.remove("a");
    expect([tally.add("b"), tally.add("b")]).toEqual([true, false]);
  });

  test("takes nothing back that was not added", () => {
    const tally = createTally(1, 1);
    tally.remove("a");
    expect([tally.add("a"), tally.add("b")]).toEqual([true, false]);
  });
});
