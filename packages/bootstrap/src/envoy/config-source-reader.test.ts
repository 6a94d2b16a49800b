import { anyFromJson, envoyRegistry } from "@xdstp/protos/envoy";
import { describe, expect, it } from "vitest";

import { envoy, from, type Json } from "../../test/envoy-json.ts";
import { configSourceReader } from "./config-source-reader.ts";

const encode = (json: Json): Uint8Array =>
  anyFromJson(
    { "@type": "type.googleapis.com/envoy.config.core.v3.ConfigSource", ...json },
    envoyRegistry(),
  ).value;

describe("configSourceReader()", () => {
  it("reads servers and authorities out of bytes, static clusters among them [C-AUTH-4]", () => {
    const { servers, authorities } = configSourceReader()(encode(from("s:1", ["a"])));
    expect([servers.map(({ uri }) => uri), authorities]).toEqual([["s:1"], ["a"]]);
    const clusters = (name: string) =>
      name === "xds"
        ? [{ uri: "c:1", credentials: { type: "insecure" as const }, features: new Set<string>() }]
        : undefined;
    const byCluster = encode({
      api_config_source: {
        api_type: "GRPC",
        transport_api_version: "V3",
        grpc_services: [envoy("xds")],
      },
    });
    expect(configSourceReader({ clusters })(byCluster).servers.map(({ uri }) => uri)).toEqual([
      "c:1",
    ]);
  });

  it.each([
    ["ads", encode({ ads: {} }), "the ConfigSource says ads, and no servers of its own"],
    ["a file", encode({ path: "/x" }), "is a file"],
    ["no message", new Uint8Array([0xff]), "the bytes are not a ConfigSource"],
  ])("rejects %s", (_, bytes, message) => {
    expect(() => configSourceReader()(bytes)).toThrow(message);
  });
});
