import { describe, expect, it } from "vitest";
import { envoyTypes, shortNameOf, shortTypes, typeUrlOf } from "./index.ts";

describe("shortTypes", () => {
  it("has a short name for each of Envoy's types, and no two for one", () => {
    expect([...shortTypes.values()].sort()).toEqual(
      envoyTypes.map(({ typeUrl }) => typeUrl).sort(),
    );
  });

  it.each([
    ["listeners", "envoy.config.listener.v3.Listener"],
    ["routes", "envoy.config.route.v3.RouteConfiguration"],
    ["scoped-routes", "envoy.config.route.v3.ScopedRouteConfiguration"],
    ["virtual-hosts", "envoy.config.route.v3.VirtualHost"],
    ["clusters", "envoy.config.cluster.v3.Cluster"],
    ["endpoints", "envoy.config.endpoint.v3.ClusterLoadAssignment"],
    ["lb-endpoints", "envoy.config.endpoint.v3.LbEndpoint"],
    ["secrets", "envoy.extensions.transport_sockets.tls.v3.Secret"],
    ["runtimes", "envoy.service.runtime.v3.Runtime"],
    ["extensions", "envoy.config.core.v3.TypedExtensionConfig"],
  ])("%s is %s, and back", (short, fullName) => {
    expect(shortTypes.get(short)).toBe(typeUrlOf(fullName));
    expect(shortNameOf(typeUrlOf(fullName))).toBe(short);
  });

  it.each(["constructor", "__proto__", "Listeners", ""])("knows nothing called %j", (name) => {
    expect(shortTypes.get(name)).toBeUndefined();
    expect(shortNameOf(name)).toBeUndefined();
  });
});

describe("typeUrlOf()", () => {
  it("puts the prefix in front of a full message name [B-TYPE-1]", () => {
    expect(typeUrlOf("a.B")).toBe("type.googleapis.com/a.B");
  });
});
