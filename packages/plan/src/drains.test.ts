import { describe, expect, it } from "vitest";

import { type } from "../test/socket-client.ts";
import { drainOf } from "./drains.ts";

describe("drainOf()", () => {
  it.each([
    [type.listeners, "removed", [], "stops accepting"],
    [
      type.listeners,
      "changed",
      ["filterChains[0].name", "defaultFilterChain.name"],
      "of filter chains that change",
    ],
    [type.listeners, "changed", ["filterChains[0].name", "statPrefix"], "all its connections"],
    [type.clusters, "changed", ["connectTimeout"], "replaces the cluster"],
    [type.endpoints, "changed", ["endpoints[0]"], "endpoints that are removed"],
  ] as const)("%s %s %j", (typeUrl, action, paths, text) => {
    expect(
      drainOf(
        typeUrl,
        action,
        paths.map((path) => ({ path })),
      )?.text,
    ).toContain(text);
  });

  it("knows of nothing that drains for routes, and for what is added", () => {
    expect(drainOf(type.routes, "changed", [{ path: "virtualHosts[0]" }])).toBeUndefined();
    expect(drainOf(type.listeners, "added", undefined)).toBeUndefined();
  });

  it("supposes the most where the fields are not known", () => {
    expect(drainOf(type.listeners, "changed", undefined)?.text).toContain("all its connections");
  });
});
