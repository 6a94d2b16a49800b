import type { Entry } from "@xdstp/core";
import { describe, expect, it } from "vitest";
import { removed } from "../../../cache/test/kept-entries.ts";
import { pairMemo } from "./pair-memo.ts";

describe("pairMemo()", () => {
  it("computes once per pair of arrays, by identity and in order", () => {
    let computed = 0;
    const join = pairMemo((first, second) => {
      computed++;
      return [...first, ...second];
    });
    const [a, b]: readonly [readonly Entry[], readonly Entry[]] = [[removed("a")], [removed("b")]];
    expect(join(a, b)).toEqual([...a, ...b]);
    expect(join(a, b)).toBe(join(a, b));
    expect(computed).toBe(1);
    expect(join(b, a)).toEqual([...b, ...a]);
    expect(join(a, [...b])).toEqual([...a, ...b]);
    expect(computed).toBe(3);
  });
});
