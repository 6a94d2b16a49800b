import { describe, expect, it } from "vitest";
import { createNameIndex } from "./name-index.ts";

const X = "xdstp://a/t.T/ns/x";

describe("createNameIndex()", () => {
  it("treats equal names as one, whatever their spelling, until they are removed", () => {
    const index = createNameIndex();
    const wanted = index.add({ name: "xdstp://a/t.T/ns/%78" });
    expect([wanted?.key, wanted?.id, index.add({ name: X })]).toEqual([X, X, undefined]);
    index.add({ name: "b" });
    expect([index.size, [...index].map(({ key }) => key)]).toEqual([2, [X, "b"]]);
    expect(index.remove({ name: X })).toBe(wanted);
    expect([index.remove({ name: X }), index.size, index.covering(X)]).toEqual([undefined, 1, []]);
  });

  it("finds a name by its key, in the same array each time, and not by an alias", () => {
    const index = createNameIndex();
    const wanted = index.add({ name: X });
    expect(index.covering(X)).toEqual([wanted]);
    expect(index.covering(X)).toBe(index.ofName(X));
    expect(index.covering("real", [X])).toEqual([]);
  });
});
