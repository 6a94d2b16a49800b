import { describe, expect, it } from "vitest";
import type { Entry } from "@xdstp/core";
import { byName, entryKey, partition, joinArrays } from "./entries.ts";
import { added, removed } from "../../test/entries.ts";

describe("variants of a name", () => {
  const [one, other] = [Uint8Array.of(1), Uint8Array.of(2)];

  function entry(name: string, constraints: Uint8Array | undefined, exists: boolean): Entry {
    const base = { revision: 1, since: 0, superseded: false, name };
    const variant = constraints === undefined ? {} : { constraints };
    if (!exists) return { ...base, ...variant };
    return {
      ...base,
      resource: {
        name,
        version: "1",
        given: "1",
        payload: { typeUrl: "t", value: new Uint8Array() },
        wire: new Uint8Array(),
        bare: 0,
        any: [0, 0],
        hash: 0,
        ...variant,
      },
    };
  }

  describe("entryKey()", () => {
    it("is the same for a variant and its removal, and differs for others of the name [S-DYN-2]", () => {
      const keys = [
        entry("n", one, true),
        entry("n", one, false),
        entry("n", other, true),
        entry("n", undefined, true),
      ].map((each) => entryKey(each, each.name));
      expect(keys[0]).toBe(keys[1]);
      expect(new Set(keys).size).toBe(3);
      expect(keys[3]).toBe("n");
    });
  });

  describe("a variant that takes the place of another", () => {
    const entries = [
      entry("n", one, false),
      entry("n", other, true),
      entry("m", one, false),
      entry("p", undefined, false),
      entry("p", one, true),
      entry("q", undefined, false),
    ];

    it("is not parted from the removal of that [S-DYN-5]", () => {
      const { additions, removals } = partition(entries);
      expect([additions, removals]).toEqual([
        [entries[0], entries[1], entries[3], entries[4]],
        [entries[2], entries[5]],
      ]);
    });

    it("is what is found under the name, in either order [S-DYN-5]", () => {
      for (const array of [entries, entries.toReversed()])
        expect([byName(array).get("n"), byName(array).get("m")]).toEqual([entries[1], entries[2]]);
    });
  });
});

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

describe("names of entries", () => {
  const removal = (revision: number, constraints?: Uint8Array): Entry => ({
    name: "n",
    revision,
    since: 1,
    superseded: false,
    ...(constraints && { constraints }),
  });
  const present = (revision: number): Entry => ({
    ...removal(revision),
    resource: {} as NonNullable<Entry["resource"]>,
  });

  describe("byName()", () => {
    it("finds what is there of a name, wherever what it takes the place of is [S-DYN-5]", () => {
      const now = present(3);
      for (const entries of [
        [now, removal(3), removal(3, Uint8Array.of(1))],
        [removal(2, Uint8Array.of(1)), now, removal(4)],
        [removal(3), now],
      ])
        expect(byName(entries).get("n")).toBe(now);
    });

    it("finds the newest removal of a name that is not there [S-DYN-5]", () => {
      const newest = removal(5, Uint8Array.of(1));
      for (const entries of [
        [removal(3), newest],
        [newest, removal(3)],
      ])
        expect(byName(entries).get("n")).toBe(newest);
    });
  });
});

describe("joined arrays", () => {
  /** A `joinArrays` that counts its merges. */
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

    it("joins the same several once, others again, whichever of them differs", () => {
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
});
