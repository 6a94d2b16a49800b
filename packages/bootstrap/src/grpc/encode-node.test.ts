import { fromBinary, type JsonObject } from "@bufbuild/protobuf";
import { NodeSchema } from "@xdstp/protos/discovery";
import { describe, expect, it } from "vitest";
import { encodeNode } from "./encode-node.ts";

describe("encodeNode()", () => {
  it("says who the client is, what it runs and what it can [C-NODE-5]", () => {
    const node = fromBinary(
      NodeSchema,
      encodeNode({
        id: "n",
        cluster: "c",
        locality: { region: "r", zone: "z", subZone: "s" },
        metadata: { a: [1, null, { b: "x" }] },
      }),
    );
    expect(node).toMatchObject({
      id: "n",
      cluster: "c",
      locality: { region: "r", zone: "z", subZone: "s" },
      metadata: { a: [1, null, { b: "x" }] },
      userAgentName: "xdstp",
      userAgentVersionType: {
        case: "userAgentVersion",
        value: expect.stringMatching(/^\d+\.\d+\.\d+/) as string,
      },
      clientFeatures: [
        "xds.config.supports-resource-ttl",
        "xds.config.supports-resource-in-sotw",
        "xds.config.resource-in-sotw",
      ],
    });
  });

  it("rejects metadata that no server could read, however deep it nests", () => {
    const nested = (levels: number): JsonObject =>
      JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`) as JsonObject;
    expect(
      fromBinary(NodeSchema, encodeNode({ id: "n", cluster: "", metadata: nested(32) })).metadata,
    ).toBeDefined();
    for (const levels of [33, 5_000]) {
      expect(() => encodeNode({ id: "n", cluster: "", metadata: nested(levels) })).toThrow(
        "[INVALID_ARGUMENT] the metadata of the node nests deeper than 32 levels; give a flatter object",
      );
    }
  });

  it("leaves out what is not there, and takes other features and programs", () => {
    const node = fromBinary(
      NodeSchema,
      encodeNode(
        { id: "", cluster: "" },
        { features: ["a.b"], userAgent: { name: "demo", version: "1" } },
      ),
    );
    expect(node).toMatchObject({
      userAgentName: "demo",
      userAgentVersionType: { value: "1" },
      clientFeatures: ["a.b"],
    });
    expect([node.locality, node.metadata]).toEqual([undefined, undefined]);
  });
});
