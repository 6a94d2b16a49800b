import { describe, expect, it } from "vitest";
import { Wants } from "./wants.ts";

const X = "xdstp://a/t.T/ns/x";
const GLOB = "xdstp://a/t.T/ns/*";

function of(...names: readonly string[]): Wants {
  const wants = new Wants();
  for (const name of names) wants.add({ name });
  return wants;
}

const namesIn = (wants: ReturnType<Wants["covering"]>): readonly string[] =>
  wants.map(({ interest }) => interest.name);

describe("Wants", () => {
  it("finds what covers a name: itself, its glob, the wildcard", () => {
    const wants = of("a", X, GLOB, "xdstp://a/t.T/other/*", "*");
    expect(namesIn(wants.covering("a"))).toEqual(["a", "*"]);
    expect(namesIn(wants.covering(X))).toEqual([X, GLOB, "*"]);
    expect(namesIn(wants.covering("b"))).toEqual(["*"]);
    expect(namesIn(of("a", "b").covering("c"))).toEqual([]);
  });

  it("takes equal names for one, whatever their spelling, and different parameters for several", () => {
    const wants = of(X);
    expect(wants.add({ name: "xdstp://a/t.T/ns/%78" })).toBeUndefined();
    const prod = { name: X, parameters: new Map([["env", "prod"]]) };
    expect(wants.add(prod)).toBeDefined();
    expect([wants.size, wants.covering(X).length]).toEqual([2, 2]);
    wants.drop({ name: "xdstp://a/t.T/ns/%78" });
    expect([wants.size, wants.drop({ name: "nobody" })]).toEqual([1, undefined]);
    expect(wants.covering(X)[0]?.interest).toBe(prod);
  });

  it("finds what is wanted by an alias, also when the alias is not told again [C-ALIAS-3]", () => {
    const wants = of("alias", "other");
    const [want] = wants.covering("real", ["alias"]);
    expect([want?.interest.name, wants.covering("real")]).toEqual(["alias", []]);
    if (want !== undefined) wants.link(want, "real");
    expect(namesIn(wants.covering("real"))).toEqual(["alias"]);
    if (want !== undefined) wants.link(want, "renamed");
    expect([namesIn(wants.covering("real")), namesIn(wants.covering("renamed"))]).toEqual([
      [],
      ["alias"],
    ]);
    wants.drop({ name: "alias" });
    if (want !== undefined) wants.link(want, "real");
    expect([wants.covering("renamed"), wants.covering("real")]).toEqual([[], []]);
  });

  it("knows what is still wanted", () => {
    const wants = new Wants();
    const [first] = [wants.add({ name: "a" })];
    wants.drop({ name: "a" });
    const second = wants.add({ name: "a" });
    expect([
      first === undefined ? undefined : wants.has(first),
      second === undefined ? undefined : wants.has(second),
    ]).toEqual([false, true]);
  });
});
