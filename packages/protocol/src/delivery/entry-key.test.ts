import { describe, expect, it } from "vitest";
import type { Entry } from "@xdstp/core";
import { byName } from "./by-name.ts";
import { entryKey } from "./entry-key.ts";
import { partition } from "./partition.ts";

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
