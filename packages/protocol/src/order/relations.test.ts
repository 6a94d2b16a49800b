import { describe, expect, it } from "vitest";
import type { ResourceType } from "@xdstp/core";
import { rankOf, relationsOf } from "./relations.ts";

const types: readonly ResourceType[] = [
  {
    typeUrl: "base",
    refersTo: ["top", "middle", "base"],
    warms: [{ typeUrl: "middle", names: () => [] }],
  },
  { typeUrl: "middle", follows: [{ typeUrl: "base", when: "sent" }] },
  {
    typeUrl: "top",
    follows: [
      { typeUrl: "base", when: "accepted" },
      { typeUrl: "middle", when: "accepted" },
    ],
  },
  {
    typeUrl: "named",
    follows: [{ typeUrl: "base", when: "accepted" }],
    references: () => [],
  },
  { typeUrl: "alone" },
  { typeUrl: "chicken", follows: [{ typeUrl: "egg", when: "accepted" }] },
  { typeUrl: "egg", follows: [{ typeUrl: "chicken", when: "accepted" }] },
  { typeUrl: "own", follows: [{ typeUrl: "own", when: "accepted" }] },
];
const source = {
  descriptor: (typeUrl: string): ResourceType | undefined =>
    types.find((type) => type.typeUrl === typeUrl),
};

describe("rankOf()", () => {
  it.each([
    ["base", 0],
    ["middle", 1],
    ["top", 2],
    ["alone", 0],
    ["unknown", 0],
  ])("%s ranks %d", (typeUrl, rank) => {
    expect(rankOf(source, typeUrl)).toBe(rank);
  });

  it.each(["chicken", "egg", "own"])(
    "ends where types follow each other in a ring: %s",
    (typeUrl) => {
      expect(rankOf(source, typeUrl)).toBeLessThan(3);
    },
  );
});

describe("relationsOf()", () => {
  it("says who waits for whose answer, and who must have let go before a removal [S-ORD-2] [S-ORD-3]", () => {
    const [base, middle, top] = relationsOf(source, ["base", "middle", "top"]);
    expect(base).toMatchObject({ waitsFor: [], referrers: [2, 1] });
    expect(middle).toMatchObject({ waitsFor: [], referrers: [] });
    expect(top).toMatchObject({ waitsFor: [0, 1], referrers: [] });
  });

  it("lets a type wait by name where its references are known, and takes nothing together for it [S-ORD-4]", () => {
    expect(relationsOf(source, ["base", "named"])).toMatchObject([
      { cut: false, byName: false },
      { waitsFor: [0], cut: false, byName: true },
    ]);
    expect(relationsOf(source, ["base", "named", "top"]).map(({ cut }) => cut)).toEqual([
      true,
      false,
      true,
    ]);
  });

  it("takes those together that wait and whom they wait for, but not a type for which its parent's answer waits [S-ORD-2] [S-ORD-4]", () => {
    expect(relationsOf(source, ["base", "middle", "top"]).map(({ cut }) => cut)).toEqual([
      true,
      false,
      true,
    ]);
    expect(relationsOf(source, ["middle", "top"]).map(({ cut }) => cut)).toEqual([true, true]);
  });

  it("leaves types out that are not subscribed, and types without relation free [S-ORD-5]", () => {
    expect(relationsOf(source, ["alone", "top", "unknown"])).toEqual(
      Array.from({ length: 3 }, () => ({ waitsFor: [], referrers: [], byName: false, cut: false })),
    );
  });

  it("is the same array for the same types, so that streams share it", () => {
    expect(relationsOf(source, ["base", "top"])).toBe(relationsOf(source, ["base", "top"]));
    expect(relationsOf(source, ["base", "top"])).not.toBe(
      relationsOf({ ...source }, ["base", "top"]),
    );
  });

  it("keeps a bounded number of sets", () => {
    for (let n = 0; n < 1_000; n++) relationsOf(source, ["base", `made up ${n}`]);
    expect(relationsOf(source, ["base", "one more"])).not.toBe(
      relationsOf(source, ["base", "one more"]),
    );
  });

  it("lets nobody wait in a ring, or for itself", () => {
    expect(
      relationsOf(source, ["chicken", "egg", "own"]).flatMap(({ waitsFor }) => waitsFor),
    ).toEqual([]);
  });
});
