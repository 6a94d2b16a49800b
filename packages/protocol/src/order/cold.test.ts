import { describe, expect, it } from "vitest";
import { added, removed, storedResource } from "../../test/entries.ts";
import { siblingWith } from "../../test/sibling-with.ts";
import type { Entry, ResourceType } from "@xdstp/core";
import { isColdSince, isServedBy } from "./cold.ts";
import type { TypeHost } from "../stream/type-machine.ts";

const words = (payload: Uint8Array): readonly string[] =>
  new TextDecoder().decode(payload).split(" ");
const cluster: ResourceType = {
  typeUrl: "cluster",
  warms: [{ typeUrl: "endpoints", names: words }],
};
const holding = (name: string, text: string, revision = 1): Entry => ({
  ...added(name, revision),
  resource: storedResource(name, new TextEncoder().encode(text)),
});

/** A stream with these types, on which these names are missing. */
function hostWith(
  typeUrls: readonly string[],
  missing: readonly string[],
): Pick<TypeHost, "sibling"> {
  const sibling = siblingWith({ misses: (name) => missing.includes(name) });
  return { sibling: (typeUrl) => (typeUrls.includes(typeUrl) ? sibling : undefined) };
}

describe("isColdSince()", () => {
  const host = hostWith(["endpoints"], ["b"]);

  it("holds for what exists only since then and misses one of those it waits for [S-WARM-1]", () => {
    expect(isColdSince(cluster, host, holding("c", "a b", 5), 4)).toBe(true);
    expect(isColdSince(cluster, host, holding("c", "a", 5), 4)).toBe(false);
    expect(isColdSince(cluster, host, holding("c", "a b", 5), 5)).toBe(false);
  });

  it("does not hold for what is gone, waits for nothing, or for what is not on the stream", () => {
    expect(isColdSince(cluster, host, removed("c", 5), 4)).toBe(false);
    expect(isColdSince({ typeUrl: "cluster" }, host, holding("c", "a b", 5), 4)).toBe(false);
    expect(isColdSince(undefined, host, holding("c", "a b", 5), 4)).toBe(false);
    expect(isColdSince(cluster, hostWith([], ["b"]), holding("c", "a b", 5), 4)).toBe(false);
  });
});

describe("isServedBy()", () => {
  it.each([
    ["opaque", ["a"], true],
    ["xdstp://a/t/x", ["a"], true],
    ["xdstp://b/t/x", ["a"], false],
    ["xdstp://b/t/x", undefined, true],
  ] as const)("%s by %j: %j [S-AUTH-8]", (name, authorities, served) => {
    expect(isServedBy(authorities === undefined ? {} : { authorities }, name)).toBe(served);
  });
});
