import type { Entry } from "@xdstp/core";
import { createSmallMap } from "@xdstp/protocol/server";
import { describe, expect, it } from "vitest";
import type { DeltaState, HeldRemovals } from "./delta-state.ts";
import {
  dropRemovals,
  heldBaseOf,
  heldEntries,
  holdRemovals,
  takeRemovals,
} from "./held-removals.ts";

const removal = (name: string, revision: number): Entry => ({
  name,
  revision,
  since: 0,
  superseded: false,
});
const namesOf = (entries: readonly Entry[]): readonly string[] =>
  entries.map(({ name, revision }) => `${name}@${revision}`);

/** A state of which only the waiting removals matter. */
function holding(...parts: readonly HeldRemovals[]): DeltaState {
  const state = { held: [], topics: createSmallMap(), located: undefined } as unknown as DeltaState;
  for (const { entries, base } of parts) holdRemovals(state, entries, base);
  return state;
}

describe("removals that wait", () => {
  it("know the oldest state that the client may have of their names, until these go [S-ORD-3]", () => {
    const state = holding(
      { entries: [removal("a", 8)], base: 5 },
      { entries: [removal("b", 12)], base: 10 },
    );
    expect(heldBaseOf(state)).toBe(5);
    expect(namesOf(takeRemovals(state, 9))).toEqual(["a@8"]);
    expect(heldBaseOf(state)).toBe(10);
    expect(namesOf(takeRemovals(state, 12))).toEqual(["b@12"]);
    expect(heldBaseOf(state)).toBe(Infinity);
    expect(heldEntries(state)).toEqual([]);
  });

  it("wait once for each name, however often that comes back and goes", () => {
    const state = holding(
      { entries: [removal("a", 8), removal("b", 8)], base: 5 },
      { entries: [removal("a", 12)], base: 10 },
    );
    expect(namesOf(heldEntries(state))).toEqual(["b@8", "a@12"]);
    dropRemovals(state, new Set(heldEntries(state).slice(0, 1)));
    expect(heldBaseOf(state)).toBe(5);
  });

  it("are given as the array that they came in, where that is all of it, so that streams share its frame", () => {
    const entries = [removal("a", 8), removal("b", 9)];
    expect(takeRemovals(holding({ entries, base: 5 }), 9)).toBe(entries);
    const state = holding({ entries, base: 5 });
    expect(namesOf(takeRemovals(state, 8))).toEqual(["a@8"]);
    expect(namesOf(heldEntries(state))).toEqual(["b@9"]);
  });
});
