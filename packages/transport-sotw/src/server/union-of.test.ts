import { describe, expect, it } from "vitest";
import { added, removed } from "../../../cache/test/kept-entries.ts";
import { unionOf } from "./union-of.ts";

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
