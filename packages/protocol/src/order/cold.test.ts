import { describe, expect, it } from "vitest";
import { added, removed, storedResource } from "../../test/entries.ts";
import type { Entry, ResourceType } from "@xdstp/core";
import { isColdSince, isServedBy, namesCold } from "./cold.ts";
import type { TypeHost } from "../stream/type-machine.ts";

const words = (payload: Uint8Array): readonly string[] =>
  new TextDecoder().decode(payload).split(" ");
const route: ResourceType = {
  typeUrl: "route",
  follows: [
    { typeUrl: "cluster", when: "accepted" },
    { typeUrl: "listener", when: "sent" },
  ],
  references: (payload) =>
    words(payload).map((word) => {
      const [typeUrl = "", name = ""] = word.split("/");
      return { typeUrl, name };
    }),
};
const cluster: ResourceType = {
  typeUrl: "cluster",
  warms: [{ typeUrl: "endpoints", names: words }],
};
const holding = (name: string, text: string, revision = 1): Entry => ({
  ...added(name, revision),
  resource: storedResource(name, new TextEncoder().encode(text)),
});

/** A stream with these types; `cold` and `missing` are names. */
function hostWith(
  typeUrls: readonly string[],
  {
    cold = [],
    missing = [],
  }: { readonly cold?: readonly string[]; readonly missing?: readonly string[] },
): Pick<TypeHost, "sibling"> {
  const sibling = {
    rejecting: false,
    lacks: () => false,
    hasAccepted: () => false,
    warm: () => undefined,
    isCold: (name: string, since: number) => cold.includes(`${name} ${since}`),
    misses: (name: string) => missing.includes(name),
  };
  return { sibling: (typeUrl) => (typeUrls.includes(typeUrl) ? sibling : undefined) };
}

describe("namesCold()", () => {
  const entries = [
    removed("gone"),
    holding("one", "cluster/warm"),
    holding("two", "cluster/warm cluster/cold"),
  ];

  it("finds what is cold since the accepted revision among what the entries refer to [S-ORD-2]", () => {
    expect(namesCold(route, hostWith(["cluster"], { cold: ["cold 7"] }), entries, 7)).toBe(true);
    expect(namesCold(route, hostWith(["cluster"], { cold: ["cold 7"] }), entries, 8)).toBe(false);
    expect(
      namesCold(route, hostWith(["cluster"], { cold: ["cold 7"] }), entries.slice(0, 2), 7),
    ).toBe(false);
  });

  it("looks at types only whose acceptance is waited for, and that are on the stream", () => {
    expect(
      namesCold(
        route,
        hostWith(["listener"], { cold: ["cold 7"] }),
        [holding("r", "listener/cold")],
        7,
      ),
    ).toBe(false);
    expect(namesCold(route, hostWith([], { cold: ["cold 7"] }), entries, 7)).toBe(false);
  });

  it("finds nothing where references are not known, or before anything was accepted", () => {
    const host = hostWith(["cluster"], { cold: ["cold 7", "cold 0"] });
    expect(namesCold(undefined, host, entries, 7)).toBe(false);
    expect(namesCold({ typeUrl: "route", follows: route.follows ?? [] }, host, entries, 7)).toBe(
      false,
    );
    expect(namesCold(route, host, entries, 0)).toBe(false);
  });
});

describe("isColdSince()", () => {
  const host = hostWith(["endpoints"], { missing: ["b"] });

  it("holds for what exists only since then and misses one of those it waits for [S-WARM-1]", () => {
    expect(isColdSince(cluster, host, holding("c", "a b", 5), 4)).toBe(true);
    expect(isColdSince(cluster, host, holding("c", "a", 5), 4)).toBe(false);
    expect(isColdSince(cluster, host, holding("c", "a b", 5), 5)).toBe(false);
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
