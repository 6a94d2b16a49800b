import { XdsError } from "@xdstp/core";
import { SERVICES } from "@xdstp/protos/services";
import { describe, expect, it } from "vitest";
import { methodTable } from "./method-table.ts";

describe("methodTable()", () => {
  it("has each method of each service by its path [B-STREAM-2]", () => {
    const { streams, fetches } = methodTable(SERVICES);
    expect(
      streams.get(
        "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources",
      ),
    ).toEqual({ variant: "sotw" });
    expect(
      streams.get("/envoy.service.endpoint.v3.EndpointDiscoveryService/DeltaEndpoints"),
    ).toEqual({
      variant: "delta",
      typeUrl: "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",
    });
    expect(streams.size).toBe(2 + 8 * 2 + 2);
    expect(fetches).toHaveLength(8);
    expect(fetches).toContainEqual({
      path: "/envoy.service.runtime.v3.RuntimeDiscoveryService/FetchRuntime",
      service: "envoy.service.runtime.v3.RuntimeDiscoveryService",
      method: "FetchRuntime",
      typeUrl: "type.googleapis.com/envoy.service.runtime.v3.Runtime",
    });
  });

  it.each([
    [
      [{ service: "acme.v1.Flags" }],
      `services: "acme.v1.Flags" has no method: give sotw, delta or fetch`,
    ],
    [
      [{ service: "/acme.v1.Flags", delta: "Delta" }],
      `services: "/acme.v1.Flags" is not a full service name such as example.v1.ThingDiscoveryService`,
    ],
    [
      [{ service: "", delta: "Delta" }],
      `services: "" is not a full service name such as example.v1.ThingDiscoveryService`,
    ],
    [
      [{ service: "acme.v1.Flags", sotw: "v1.Stream" }],
      `services: "acme.v1.Flags" has the method "v1.Stream": a method name has letters, digits and _ only`,
    ],
    [
      [{ service: "acme.v1.Flags", fetch: "Fetch" }],
      `services: "acme.v1.Flags" has a Fetch method and no typeUrl: there is no Fetch for every type`,
    ],
    [
      [{ service: "acme.v1.Flags", delta: "Get", sotw: "Get" }],
      "services: /acme.v1.Flags/Get is there twice; leave one row out",
    ],
    [
      [{ service: "acme.v1.Flags", typeUrl: "t", delta: "Get", fetch: "Get" }],
      "services: /acme.v1.Flags/Get is there twice; leave one row out",
    ],
    [
      [...SERVICES, ...SERVICES],
      "services: /envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources is there twice; leave one row out",
    ],
  ])("names a row that cannot be served", (rows, text) => {
    expect(() => methodTable(rows)).toThrow(new XdsError("INVALID_ARGUMENT", text));
  });
});
