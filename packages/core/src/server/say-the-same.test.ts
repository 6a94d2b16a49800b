import { describe, expect, it } from "vitest";
import { added, removed, storedResource } from "../../test/entries.ts";
import type { Entry } from "../resource.ts";
import { XdsError } from "../xds-error.ts";
import { sayTheSame } from "./say-the-same.ts";

const withWire = (name: string, ...wire: readonly number[]): Entry => ({ ...added(name), resource: { ...storedResource(name), wire: Uint8Array.from(wire) } });
const withError = (name: string, text: string): Entry => ({ ...removed(name), error: new XdsError("NOT_FOUND", text) });

describe("sayTheSame()", () => {
  it.each<readonly [what: string, expected: boolean, a: readonly Entry[], b: readonly Entry[]]>([
    ["entries in another order, of another revision", true, [withWire("a", 1), removed("b", 1)], [removed("b", 2), withWire("a", 1)]],
    ["nothing", true, [], []],
    ["other content", false, [withWire("a", 1)], [withWire("a", 2)]],
    ["another name", false, [withWire("a", 1)], [withWire("b", 1)]],
    ["more", false, [withWire("a", 1)], [withWire("a", 1), removed("b")]],
    ["a removal instead", false, [withWire("a", 1)], [removed("a")]],
    ["a resource instead", false, [removed("a")], [withWire("a", 1)]],
    ["the same reason", true, [withError("a", "gone")], [withError("a", "gone")]],
    ["another reason", false, [withError("a", "gone")], [withError("a", "never was")]],
    ["a reason where none was given", false, [removed("a")], [withError("a", "gone")]],
  ])("%s: %s [S-ACK-8]", (_, expected, a, b) => {
    expect(sayTheSame(a, b, () => true)).toBe(expected);
  });

  it.each<readonly [what: string, a: Entry, b: Entry]>([
    ["another reason", withError("a", "gone"), withError("a", "never was")],
    ["a reason where none was given", removed("a"), withError("a", "gone")],
  ])("%s, of which the client is not told: true [S-ACK-8] [S-ERR-3]", (_, a, b) => {
    expect(sayTheSame([a], [b], ({ code }) => code !== "NOT_FOUND")).toBe(true);
  });

  it("goes by what another server has said, whose words go on [S-ACK-8]", () => {
    const told = (text: string): Entry => ({ ...removed("a"), error: new XdsError("UNAVAILABLE", `over ${text}`, { said: "down" }) });
    expect(sayTheSame([told("one way")], [told("another")], () => true)).toBe(true);
  });
});
