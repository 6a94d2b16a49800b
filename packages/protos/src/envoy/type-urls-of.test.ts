import { createRegistry } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { NodeSchema, SocketAddress_ProtocolSchema, StatusSchema } from "../discovery/index.ts";
import { envoyRegistry, typeUrlsOf } from "./index.ts";

describe("typeUrlsOf()", () => {
  it("lists messages, sorted, and nothing else", () => {
    const registry = createRegistry(StatusSchema, NodeSchema, SocketAddress_ProtocolSchema);
    expect(typeUrlsOf(registry)).toEqual([
      "type.googleapis.com/envoy.config.core.v3.Node",
      "type.googleapis.com/google.rpc.Status",
    ]);
  });

  it("lists messages inside messages, but not the entries of maps", () => {
    const listed = typeUrlsOf(envoyRegistry());
    expect(listed).toContain("type.googleapis.com/xds.core.v3.CollectionEntry.InlineEntry");
    expect(listed).not.toContain("type.googleapis.com/xds.core.v3.ContextParams.ParamsEntry");
  });
});
