import { describe, expect, test } from "vitest";
import { isCanonicalPath } from "./call-dispatch.ts";

describe("isCanonicalPath()", () => {
  test.for([
    "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources",
    "/v3/discovery:clusters",
    "/healthz",
    "/a/b.c/d",
  ])("takes %s", (path) => {
    expect(isCanonicalPath(path)).toBe(true);
  });

  test.for([
    "",
    "/",
    "a.B/C",
    "//a.B/C",
    "/a.B//C",
    "/a.B/C/",
    "/a.B/./C",
    "/a.B/../C",
    "/..",
    "/a.B/%43",
    "/a.B\\C",
    "/a.B/C#x",
    "/a.B/C?x",
    "/a.B/C ",
    " /a.B/C",
    "*",
    "/a.B/C\u0000",
    "/a.B/Ç",
    "http://host/a.B/C",
  ])("rejects %j", (path) => {
    expect(isCanonicalPath(path)).toBe(false);
  });

  test("takes a query only where it is allowed", () => {
    expect(isCanonicalPath("/a.B/C?message=%7B%7D", true)).toBe(true);
    expect(isCanonicalPath("//a.B/C?x", true)).toBe(false);
  });
});
