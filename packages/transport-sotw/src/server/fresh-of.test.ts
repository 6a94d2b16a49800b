import { describe, expect, it } from "vitest";
import type { Entry } from "@xdstp/core";
import { removed } from "../../../cache/test/kept-entries.ts";
import { freshOf } from "./fresh-of.ts";

const at = (name: string, revision: number): Entry => removed(name, revision);
const [a, b, newB, c] = [at("a", 1), at("b", 2), at("b", 5), at("c", 3)];

describe("freshOf()", () => {
  it("is what the client does not hold: what is new, and what changed [S-WARM-1]", () => {
    expect(freshOf([a, newB, c], [a, b])).toEqual([newB, c]);
    expect(freshOf([a, b], [a, b])).toEqual([]);
    expect(freshOf([a, b], [])).toEqual([a, b]);
  });

  it("is the same array for the same two", () => {
    const [entries, shown] = [[a, b], [a]];
    expect(freshOf(entries, shown)).toBe(freshOf(entries, shown));
  });
});
