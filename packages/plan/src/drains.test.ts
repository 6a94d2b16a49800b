import { describe, expect, it } from "vitest";

import { type } from "../test/socket-client.ts";
import { drainOf } from "./drains.ts";

describe("drainOf()", () => {
  it.each([
    [type.listeners, "removed", [], "stops accepting"],
    [
      type.listeners,
      "changed",
      ["filterChains", "defaultFilterChain", "filterChainMatcher"],
      "of filter chains that change",
    ],
    [type.listeners, "changed", ["filterChains", "statPrefix"], "all its connections"],
    [type.clusters, "changed", ["connectTimeout"], "replaces the cluster"],
    [type.endpoints, "changed", ["endpoints"], "endpoints that are removed"],
  ] as const)("%s %s %j", (typeUrl, action, changed, text) => {
    expect(drainOf(typeUrl, action, { changed, fields: ["filterChains"] })?.text).toContain(text);
  });

  it("knows of nothing that drains for routes, and for what is added", () => {
    expect(
      drainOf(type.routes, "changed", { changed: ["virtualHosts"], fields: [] }),
    ).toBeUndefined();
    expect(drainOf(type.listeners, "added", undefined)).toBeUndefined();
  });

  it("supposes the most where the fields are not known", () => {
    expect(drainOf(type.listeners, "changed", undefined)?.text).toContain("all its connections");
  });
});
