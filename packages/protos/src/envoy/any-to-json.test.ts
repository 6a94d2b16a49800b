import { create } from "@bufbuild/protobuf";
import { AnySchema, anyPack } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { NodeSchema } from "../discovery/index.ts";
import { anyToJson, envoyRegistry } from "./index.ts";

describe("anyToJson()", () => {
  it("writes what the generated messages wrote, with its type", () => {
    const any = anyPack(NodeSchema, create(NodeSchema, { id: "a", userAgentName: "b" }));
    expect(anyToJson(any, envoyRegistry())).toEqual({
      "@type": "type.googleapis.com/envoy.config.core.v3.Node",
      id: "a",
      userAgentName: "b",
    });
  });

  it("names a type that is not known, and the way out", () => {
    const any = create(AnySchema, { typeUrl: "type.googleapis.com/a.B" });
    expect(() => anyToJson(any, envoyRegistry())).toThrow(
      "cannot write a resource of type type.googleapis.com/a.B as JSON: the type type.googleapis.com/a.B is not known; correct the name, or add the descriptors",
    );
  });

  it("names the type whose bytes are not of that type", () => {
    const any = create(AnySchema, {
      typeUrl: "type.googleapis.com/envoy.config.core.v3.Node",
      value: new Uint8Array([10, 9]),
    });
    expect(() => anyToJson(any, envoyRegistry())).toThrow(
      "cannot write a resource of type type.googleapis.com/envoy.config.core.v3.Node as JSON: ",
    );
  });
});
