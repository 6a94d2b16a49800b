import { describe, expect, it } from "vitest";
import { typeNameFromUrl, typeUrlFromName } from "./type-url.ts";

describe("typeUrlFromName()", () => {
  it("puts the host of type URLs before the name", () => {
    expect(typeUrlFromName("envoy.config.cluster.v3.Cluster")).toBe(
      "type.googleapis.com/envoy.config.cluster.v3.Cluster",
    );
  });
});

describe("typeNameFromUrl()", () => {
  it.each([
    ["type.googleapis.com/a.B", "a.B"],
    ["example.com/path/a.B", "a.B"],
    ["a.B", "a.B"],
    ["", ""],
    ["type.googleapis.com/", ""],
  ])("reads the name of %j", (typeUrl, name) => {
    expect(typeNameFromUrl(typeUrl)).toBe(name);
  });
});
