import { describe, expect, it } from "vitest";
import { added, removed, storedResource } from "../../test/entries.ts";
import type { Entry } from "@xdstp/core";
import { sayTheSame } from "./say-the-same.ts";

const withWire = (name: string, ...wire: readonly number[]): Entry => ({
  ...added(name),
  resource: { ...storedResource(name), wire: Uint8Array.from(wire) },
});
/** Encodes a resource as its bytes, a removal as one byte, and the name `quiet` as nothing. */
const profile = {
  said: ({ name, resource }: Entry) =>
    name === "quiet" ? new Uint8Array() : (resource?.wire ?? Uint8Array.of(0)),
};

describe("sayTheSame()", () => {
  it.each<readonly [what: string, expected: boolean, a: readonly Entry[], b: readonly Entry[]]>([
    [
      "entries in another order, of another revision",
      true,
      [withWire("a", 1), removed("b", 1)],
      [removed("b", 2), withWire("a", 1)],
    ],
    ["nothing", true, [], []],
    ["other content", false, [withWire("a", 1)], [withWire("a", 2)]],
    ["another name", false, [withWire("a", 1)], [withWire("b", 1)]],
    ["more", false, [withWire("a", 1)], [withWire("a", 1), removed("b")]],
    ["less", false, [withWire("a", 1), removed("b")], [withWire("a", 1)]],
    ["a removal instead", false, [withWire("a", 1)], [removed("a")]],
    ["a resource instead", false, [removed("a")], [withWire("a", 1)]],
    [
      "other content of which nothing is told",
      true,
      [withWire("quiet", 1)],
      [withWire("quiet", 2)],
    ],
    [
      "more of which nothing is told",
      true,
      [withWire("a", 1)],
      [withWire("quiet", 1), withWire("a", 1)],
    ],
    [
      "less of which nothing is told",
      true,
      [withWire("quiet", 1), withWire("a", 1)],
      [withWire("a", 1)],
    ],
  ])("%s: %s [S-ACK-8]", (_, expected, a, b) => {
    expect(sayTheSame(a, b, profile)).toBe(expected);
  });
});
