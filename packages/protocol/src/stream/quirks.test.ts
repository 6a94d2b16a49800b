import { describe, expect, it } from "vitest";
import { quirksOf, type Quirk, type QuirkEffect } from "./quirks.ts";

const row = (client: string, effect?: QuirkEffect): Quirk => ({
  client,
  rule: "S-X-1",
  difference: "d",
  reason: "r",
  ...(effect === undefined ? {} : { effect }),
});

describe("quirksOf()", () => {
  it("is the rule itself where no row concerns the client", () => {
    const none = {
      missingAs: new Map(),
      resendOnReconnect: [],
      forgetsGlobMembers: false,
      legacyWildcard: true,
      ttl: {},
      globHeartbeats: true,
      readsErrors: false,
    };
    expect(quirksOf([], "envoy")).toEqual(none);
    expect(quirksOf([row("envoy"), row("gRPC", { legacyWildcard: false })], "envoy")).toEqual(none);
  });

  it("finds a client by the beginning of its name, and every client by none", () => {
    const table = [
      row("gRPC Go", { forgetsGlobMembers: true }),
      row("", { resendOnReconnect: ["t"] }),
    ];
    expect(quirksOf(table, "gRPC Go 1.85")).toMatchObject({
      forgetsGlobMembers: true,
      resendOnReconnect: ["t"],
    });
    expect(quirksOf(table, "gRPC C-core")).toMatchObject({
      forgetsGlobMembers: false,
      resendOnReconnect: ["t"],
    });
    expect(quirksOf(table, "")).toMatchObject({
      forgetsGlobMembers: false,
      resendOnReconnect: ["t"],
    });
  });

  it("folds the rows of a client; the later one wins for a type", () => {
    const table = [
      row("envoy", {
        missingAs: { a: "removed", b: "nothing" },
        resendOnReconnect: ["x"],
        ttl: { delta: false, sotw: false },
        readsErrors: true,
      }),
      row("envoy", {
        missingAs: { a: "empty-resource" },
        resendOnReconnect: ["y"],
        legacyWildcard: false,
        ttl: { delta: true },
        globHeartbeats: false,
      }),
    ];
    expect(quirksOf(table, "envoy")).toEqual({
      missingAs: new Map([
        ["a", "empty-resource"],
        ["b", "nothing"],
      ]),
      resendOnReconnect: ["x", "y"],
      forgetsGlobMembers: false,
      legacyWildcard: false,
      ttl: { delta: true, sotw: false },
      globHeartbeats: false,
      readsErrors: true,
    });
  });
});
