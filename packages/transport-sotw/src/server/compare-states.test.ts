import { type Entry, XdsError } from "@xdstp/core";
import { describe, expect, it } from "vitest";
import { added, removed } from "../../../cache/test/kept-entries.ts";
import { freshOf, hasNewErrors, pairMemo, unionOf, withoutToldErrors } from "./compare-states.ts";

const all = (): boolean => true;
const [x, y, z] = [added("x"), added("y"), added("z")];

describe("unionOf()", () => {
  it("holds what exists, then what was shown before and is gone [S-ORD-1]", () => {
    expect(unionOf([y, z], [x, y], all)).toEqual([y, z, x]);
  });

  it("is the array of members where nothing has gone [S-ORD-1]", () => {
    const members = [x, y];
    expect(unionOf(members, [], all)).toBe(members);
    expect(unionOf(members, [y], all)).toBe(members);
    expect(unionOf(members, [removed("gone")], all)).toBe(members);
  });

  it("holds what was shown of a name that is asked for and exists no more, in place of the word that it does not [S-ORD-3]", () => {
    expect(unionOf([removed("x"), y], [x, y], all)).toEqual([y, x]);
  });

  it("takes a name for present in any spelling [N-40]", () => {
    const members = [added("xdstp://a/test.Type/~x")];
    expect(
      unionOf(
        members,
        [added("xdstp://a/test.Type/~x", { asked: "xdstp://a/test.Type/%7Ex" })],
        all,
      ),
    ).toBe(members);
  });

  it("leaves out what was shown and is wanted no more [S-SUB-4]", () => {
    const members = [y];
    expect(unionOf(members, [x, z], (name) => name !== "x")).toEqual([y, z]);
    expect(unionOf(members, [x], (name) => name !== "x")).toBe(members);
  });

  it("is the same array for the same two, so that streams share a frame", () => {
    const members = [y];
    const shown = [x];
    expect(unionOf(members, shown, all)).toBe(unionOf(members, shown, all));
    expect(unionOf(members, [x], all)).not.toBe(unionOf(members, shown, all));
  });
});

describe("freshOf()", () => {
  const at = (name: string, revision: number): Entry => removed(name, revision);
  const [a, b, newB, c] = [at("a", 1), at("b", 2), at("b", 5), at("c", 3)];

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

describe("errors in full states", () => {
  const failed = (name: string): Entry => ({
    ...removed(name),
    error: new XdsError("PERMISSION_DENIED", "no"),
  });
  const [a, b, x, y, gone] = [added("a"), added("b"), failed("x"), failed("y"), removed("gone")];

  describe("withoutToldErrors()", () => {
    it("leaves out the errors that the client was told, and nothing else [S-ERR-2]", () => {
      expect(withoutToldErrors([a, x, y, gone], [b, x, gone])).toEqual([a, y, gone]);
      expect(withoutToldErrors([a, x], [{ ...x }])).toEqual([a, x]);
    });

    it("gives the same array for the same two, and the array itself where there is nothing to leave out, so that streams share its frame", () => {
      const [entries, held] = [
        [a, x],
        [a, x],
      ];
      expect(withoutToldErrors(entries, held)).toBe(withoutToldErrors(entries, held));
      for (const [all, told] of [
        [[a, b], held],
        [entries, [a, b, gone]],
        [[a, gone], [gone]],
      ] as const)
        expect(withoutToldErrors(all, told)).toBe(all);
    });
  });

  describe("hasNewErrors()", () => {
    it.each([
      ["none", [a, gone], [b], false],
      ["one that was told", [a, x], [x], false],
      ["one that was not", [a, x], [a], true],
      ["one of two that was not", [x, y], [x], true],
      ["what is missing without an error", [gone], [], false],
    ] as const)("says of %s whether there is one to tell [S-ERR-1]", (_, entries, held, isNew) => {
      expect(hasNewErrors(entries, held)).toBe(isNew);
    });
  });
});

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
