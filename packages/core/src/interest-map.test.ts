import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { interestKey, InterestMap } from "./interest-map.ts";
import type { Interest } from "./resource.ts";

interface Row {
  readonly typeUrl: string;
  readonly interest: Interest;
}

const T = "t";

/** In these tests the glob of `g/a` is `g/*`. */
function globOf(name: string): string | undefined {
  return name.startsWith("g/") && name !== "g/*" ? "g/*" : undefined;
}

function idOf({
  typeUrl,
  interest: { name, parameters = new Map<string, string>() },
}: Row): string {
  return JSON.stringify([typeUrl, name, [...parameters].sort()]);
}

/** The naive map that the tests compare with: a list that is searched for each call. */
class NaiveList {
  rows: readonly Row[] = [];

  set(row: Row): void {
    const at = this.rows.findIndex((other) => idOf(other) === idOf(row));
    this.rows = at === -1 ? [...this.rows, row] : this.rows.with(at, row);
  }

  delete(row: Row): boolean {
    const { length } = this.rows;
    this.rows = this.rows.filter((other) => idOf(other) !== idOf(row));
    return this.rows.length < length;
  }

  of(typeUrl: string, ...names: readonly (string | undefined)[]): ReadonlySet<Row> {
    return new Set(
      this.rows.filter((row) => row.typeUrl === typeUrl && names.includes(row.interest.name)),
    );
  }
}

const rows = fc.record({
  typeUrl: fc.constantFrom("t", "u"),
  interest: fc.record(
    {
      name: fc.constantFrom("a", "b", "g/a", "g/b", "g/*", "*", 'a\n[["k","1"]]', "a\nb"),
      parameters: fc
        .dictionary(fc.constantFrom("k", "l"), fc.constantFrom("1", "2"), { maxKeys: 2 })
        .map((all) => new Map(Object.entries(all))),
    },
    { requiredKeys: ["name"] },
  ),
});
const steps = fc.array(fc.record({ row: rows, isSet: fc.boolean(), old: fc.nat(39) }), {
  maxLength: 40,
  size: "max",
});

describe("InterestMap", () => {
  it("says the same as a list that is looked through each time [N-66]", () => {
    fc.assert(
      fc.property(steps, (all) => {
        const map = new InterestMap<Row>();
        const list = new NaiveList();
        for (const { row: drawn, isSet, old } of all) {
          const row = isSet ? drawn : (list.rows[old] ?? drawn);
          const { typeUrl, interest } = row;
          const { name } = interest;
          if (isSet) {
            map.set(typeUrl, interest, name, row);
            list.set(row);
          } else expect(map.delete(typeUrl, interest, name)).toBe(list.delete(row));
          expect(map.get(typeUrl, interest, name)).toBe(isSet ? row : undefined);
          expect([...map.ofType(typeUrl)]).toEqual(
            list.rows.filter((one) => one.typeUrl === typeUrl),
          );
          expect(new Set(map.ofName(typeUrl, name))).toEqual(list.of(typeUrl, name));
          expect(map.hasName(typeUrl, name)).toBe(list.of(typeUrl, name).size > 0);
          expect(new Set(map.covering(typeUrl, name, globOf(name), ["b"]))).toEqual(
            list.of(typeUrl, name, globOf(name), "b", "*"),
          );
        }
        expect(new Set(map)).toEqual(new Set(list.rows));
        expect(map.size).toBe(list.rows.length);
        expect(new Set(map.types())).toEqual(new Set(list.rows.map(({ typeUrl }) => typeUrl)));
        map.clear();
        expect([map.size, ...map]).toEqual([0]);
      }),
    );
  });

  it("tells a name from the id of another one with parameters [N-66]", () => {
    const map = new InterestMap<string>();
    const parameters = new Map([["k", "1"]]);
    map.set(T, { name: "a", parameters }, "a", "located");
    const name = 'a\n[["k","1"]]';
    expect([map.get(T, { name }, name), map.ofName(T, name)]).toEqual([undefined, []]);
    expect([map.hasName(T, name), map.hasName(T, "a")]).toEqual([false, true]);
    map.set(T, { name }, name, "named");
    expect([map.ofName(T, name), map.ofName(T, "a"), [...map]]).toEqual([
      ["named"],
      ["located"],
      ["located", "named"],
    ]);
    map.delete(T, { name: "a", parameters }, "a");
    expect([map.ofName(T, name), map.ofName(T, "a"), map.size]).toEqual([["named"], [], 1]);
  });

  it("gives the same array for a name, and for all names that only one interest covers", () => {
    const map = new InterestMap<string>();
    map.set(T, { name: "g/*" }, "g/*", "glob");
    map.set(T, { name: "a" }, "a", "name");
    expect(map.ofName(T, "a")).toBe(map.ofName(T, "a"));
    expect(map.covering(T, "g/x", "g/*")).toBe(map.covering(T, "g/y", "g/*"));
    expect(map.covering(T, "g/*", undefined)).toEqual(["glob"]);
    expect([map.ofName(T, undefined), map.covering("u", "g/x", "g/*")]).toEqual([[], []]);
  });
});

describe("interestKey()", () => {
  it.each([
    ["a", {}, "a"],
    ["a", { k: "1" }, 'a\n[["k","1"]]'],
    ["a", { l: "2", k: "1" }, 'a\n[["k","1"],["l","2"]]'],
    ['a\n[["k","1"]]', {}, '\n"a\\n[[\\"k\\",\\"1\\"]]"'],
  ])("%j with %j: %j [N-66]", (name, parameters, key) => {
    expect(interestKey({ name, parameters: new Map(Object.entries(parameters)) }, name)).toBe(key);
  });

  it("differs for different interests [N-66]", () => {
    const name = fc.string({ unit: fc.constantFrom("a", "\n", "[", "]", '"', ","), maxLength: 8 });
    const interest = fc.tuple(name, fc.dictionary(name, name, { maxKeys: 2 }));
    const keyOf = ([text, parameters]: readonly [
      string,
      Readonly<Record<string, string>>,
    ]): string =>
      interestKey({ name: text, parameters: new Map(Object.entries(parameters)) }, text);
    const plain = ([text, parameters]: readonly [
      string,
      Readonly<Record<string, string>>,
    ]): string => JSON.stringify([text, Object.entries(parameters).sort()]);
    fc.assert(
      fc.property(interest, interest, (one, other) => {
        expect(keyOf(one) === keyOf(other)).toBe(plain(one) === plain(other));
      }),
      { numRuns: 1_000 },
    );
  });
});
