import { describe, expect, it } from "vitest";
import { added } from "../../test/entries.ts";
import type { Entry } from "@xdstp/core";
import { joinArrays } from "./join-arrays.ts";

/** Joins, and says how often it had to. */
function useJoin(): {
  readonly join: (...arrays: readonly (readonly Entry[])[]) => readonly Entry[];
  readonly merged: () => number;
} {
  let merged = 0;
  return {
    join: (...arrays) =>
      joinArrays(arrays, (all) => {
        merged++;
        return all.flat();
      }),
    merged: () => merged,
  };
}

const arraysOf = (...names: readonly string[]): readonly (readonly Entry[])[] =>
  names.map((name) => [added(name)]);

describe("joinArrays()", () => {
  it("gives the one array itself, and an empty one for none", () => {
    const { join, merged } = useJoin();
    const [one = []] = arraysOf("a");
    expect(join(one)).toBe(one);
    expect(join()).toEqual([]);
    expect(merged()).toBe(0);
  });

  it("joins the same several once, others anew, whichever of them differs", () => {
    const { join, merged } = useJoin();
    const [a = [], b = [], c = []] = arraysOf("a", "b", "c");
    const first = join(a, b);
    expect(first.map(({ name }) => name)).toEqual(["a", "b"]);
    for (const others of [
      [a, c],
      [a, b, c],
      [b, a],
      [a, c, b],
    ])
      expect(join(...others)).toEqual(others.flat());
    expect(merged()).toBe(5);
    expect(join(a, b)).toBe(first);
    expect(join(a, b, c)).toBe(join(a, b, c));
    expect(merged()).toBe(5);
  });

  it("remembers eight joins that begin with the same array, the newest", () => {
    const { join, merged } = useJoin();
    const [a = [], ...others] = arraysOf("a", "1", "2", "3", "4", "5", "6", "7", "8", "9");
    for (const other of others) join(a, other);
    for (const other of others.slice(1)) join(a, other);
    expect(merged()).toBe(9);
    join(a, others[0] ?? []);
    expect(merged()).toBe(10);
  });
});
