import { describe, expect, it } from "vitest";
import { createWantedIndex, type WantedIndex } from "./wanted-index.ts";

const X = "xdstp://a/t.T/ns/x";
const GLOB = "xdstp://a/t.T/ns/*";

function of(...names: readonly string[]): WantedIndex {
  const index = createWantedIndex("t");
  for (const name of names) index.add({ name });
  return index;
}

const namesIn = (index: ReturnType<WantedIndex["covering"]>): readonly string[] =>
  index.map(({ interest }) => interest.name);

describe("createWantedIndex()", () => {
  it("finds what covers a name: itself, its glob, the wildcard", () => {
    const index = of("a", X, GLOB, "xdstp://a/t.T/other/*", "*");
    expect(namesIn(index.covering("a"))).toEqual(["a", "*"]);
    expect(namesIn(index.covering(X))).toEqual([X, GLOB, "*"]);
    expect(namesIn(index.covering("b"))).toEqual(["*"]);
    expect(namesIn(of("a", "b").covering("c"))).toEqual([]);
  });

  it("treats equal names as one, whatever their spelling, and different parameters as several", () => {
    const index = of(X);
    expect(index.add({ name: "xdstp://a/t.T/ns/%78" })).toBeUndefined();
    const prod = { name: X, parameters: new Map([["env", "prod"]]) };
    expect(index.add(prod)).toBeDefined();
    expect([index.size, index.covering(X).length]).toEqual([2, 2]);
    index.remove({ name: "xdstp://a/t.T/ns/%78" });
    expect([index.size, index.remove({ name: "nobody" })]).toEqual([1, undefined]);
    expect(index.covering(X)[0]?.interest).toBe(prod);
  });

  it("finds a name that is subscribed by an alias, also when the alias is not mentioned again [C-ALIAS-3]", () => {
    const index = of("alias", "other");
    const [alias] = index.covering("real", ["alias"]);
    expect([alias?.interest.name, index.covering("real")]).toEqual(["alias", []]);
    if (alias?.kind !== "name") throw new Error("an alias is a name");
    index.link(alias, "real");
    expect(namesIn(index.covering("real"))).toEqual(["alias"]);
    index.link(alias, "renamed");
    expect([index.covering("real"), namesIn(index.covering("renamed"))]).toEqual([[], ["alias"]]);
    index.remove({ name: "alias" });
    index.link(alias, "real");
    expect([index.covering("renamed"), index.covering("real")]).toEqual([[], []]);
  });

  it("gives names that only one collection covers the same array", () => {
    const index = of(GLOB, "a");
    expect(index.covering(X)).toBe(index.covering("xdstp://a/t.T/ns/y"));
    index.remove({ name: GLOB });
    expect(index.covering(X)).toEqual([]);
  });
});
