import { describe, expect, it } from "vitest";
import { added, removed, storedResource } from "../../test/entries.ts";
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

/** A stream with these types; `missing` and `awaited` are names. */
function hostWith(
  typeUrls: readonly string[],
  {
    missing = [],
    awaited = [],
  }: { readonly missing?: readonly string[]; readonly awaited?: readonly string[] },
): Pick<TypeHost, "sibling"> {
  const sibling = {
    isBusy: false,
    mayBeCold: false,
    rank: 0,
    removed: () => "never-sent" as const,
    lacks: () => false,
    hasAccepted: () => false,
    warm: () => undefined,
    isCold: () => false,
    awaits: (name: string) => awaited.includes(name),
    misses: (name: string) => missing.includes(name),
  };
  return { sibling: (typeUrl) => (typeUrls.includes(typeUrl) ? sibling : undefined) };
}

describe("isColdSince()", () => {
  const host = hostWith(["endpoints"], { missing: ["b"] });

  it("holds for what exists only since then and misses one of those it waits for [S-WARM-1]", () => {
    expect(isColdSince(cluster, host, holding("c", "a b", 5), 4)).toBe(true);
    expect(isColdSince(cluster, host, holding("c", "a", 5), 4)).toBe(false);
    expect(isColdSince(cluster, host, holding("c", "a b", 5), 5)).toBe(false);
  });

  it("holds while one of those is there and not accepted [S-ORD-2]", () => {
    const waiting = hostWith(["endpoints"], { awaited: ["b"] });
    expect(isColdSince(cluster, waiting, holding("c", "a b", 5), 4)).toBe(true);
    expect(isColdSince(cluster, waiting, holding("c", "a", 5), 4)).toBe(false);
  });

  it("does not hold for what is gone, waits for nothing, or for what is not on the stream", () => {
    expect(isColdSince(cluster, host, removed("c", 5), 4)).toBe(false);
    expect(isColdSince({ typeUrl: "cluster" }, host, holding("c", "a b", 5), 4)).toBe(false);
    expect(isColdSince(undefined, host, holding("c", "a b", 5), 4)).toBe(false);
    expect(isColdSince(cluster, hostWith([], { missing: ["b"] }), holding("c", "a b", 5), 4)).toBe(
      false,
    );
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
