import type { Entry } from "@xdstp/core";
import { describe, expect, it } from "vitest";
import { compareHeld, heldListOf, unlist } from "./held-by-client.ts";

const entry = (name: string, version: string): Entry => ({
  revision: 1,
  since: 1,
  superseded: false,
  name,
  resource: { name, version } as never,
});

describe("heldListOf()", () => {
  it("is by canonical key, and one object for the same versions [N-40]", () => {
    const versions = new Map([["xdstp://a/t/%78", "1"]]);
    expect([...heldListOf(versions)]).toEqual([
      ["xdstp://a/t/x", { name: "xdstp://a/t/%78", version: "1" }],
    ]);
    expect(heldListOf(versions)).toBe(heldListOf(versions));
    expect(heldListOf(new Map(versions))).not.toBe(heldListOf(versions));
  });
});

describe("compareHeld()", () => {
  const list = heldListOf(
    new Map([
      ["same", "1"],
      ["older", "1"],
      ["gone", "1"],
    ]),
  );

  it("gives the members that differ, and what is beside them [S-RECON-4]", () => {
    const members = [entry("same", "1"), entry("older", "2"), entry("new", "1")];
    const { rest, left } = compareHeld(list, members);
    expect(rest.map(({ name }) => name)).toEqual(["older", "new"]);
    expect([...left.keys()]).toEqual(["gone"]);
    expect(compareHeld(list, members)).toBe(compareHeld(list, members));
  });

  it("gives the same array where nothing is held in its version, so that streams share its frame", () => {
    const members = [entry("older", "2")];
    expect(compareHeld(list, members).rest).toBe(members);
  });
});

describe("unlist()", () => {
  it("takes a name out, of a copy where others have the list too", () => {
    const shared = heldListOf(
      new Map([
        ["a", "1"],
        ["b", "1"],
      ]),
    );
    const state = { initial: shared, initialShared: true } as Parameters<typeof unlist>[0];
    expect([unlist(state, "x"), state.initial]).toEqual([false, shared]);
    expect([unlist(state, "a"), unlist(state, "a"), state.initialShared]).toEqual([
      true,
      false,
      false,
    ]);
    const own = state.initial;
    expect([unlist(state, "b"), state.initial === own, [...shared.keys()]]).toEqual([
      true,
      true,
      ["a", "b"],
    ]);
    expect(unlist({ initial: undefined, initialShared: false }, "a")).toBe(false);
  });
});
