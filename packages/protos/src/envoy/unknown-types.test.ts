import { describe, expect, it } from "vitest";
import { envoyRegistry, unknownTypes } from "./index.ts";

describe("unknownTypes()", () => {
  it("gives what is not there once each, in the order given, by name or by type URL", () => {
    const types = [
      "z.Z",
      "envoy.config.core.v3.Node",
      "type.googleapis.com/a.A",
      "z.Z",
      "type.googleapis.com/envoy.config.core.v3.Node",
    ];
    expect(unknownTypes(types, envoyRegistry())).toEqual(["z.Z", "type.googleapis.com/a.A"]);
  });
});
