import { type DescMessage, ScalarType } from "@bufbuild/protobuf";
import type { ResourceType } from "@xdstp/core";
import { anyFromJson, envoyRegistry } from "@xdstp/protos/envoy";
import { describe, expect, it } from "vitest";

import * as types from "./index.ts";
import { envoyTypes, shortNameOf, shortTypes, typeUrlOf } from "./index.ts";

const registry = envoyRegistry();
const messageOf = (typeUrl: string | undefined): DescMessage | undefined =>
  registry.getMessage(typeUrl?.split("/").at(-1) ?? "");
const namesWhere = (holds: (type: ResourceType) => boolean): readonly string[] =>
  envoyTypes
    .filter(holds)
    .map(({ typeUrl }) => typeUrl.split(".").at(-1) ?? "")
    .sort();
const known = new Set(envoyTypes.map(({ typeUrl }) => typeUrl));

/** All that a type comes after, directly or through others. */
function before(type: ResourceType): ReadonlySet<string> {
  const direct = (type.follows ?? []).map(({ typeUrl }) => typeUrl);
  return new Set(
    direct.flatMap((typeUrl) => [
      typeUrl,
      ...before(envoyTypes.find((other) => other.typeUrl === typeUrl) ?? { typeUrl }),
    ]),
  );
}

describe("envoyTypes", () => {
  it("are the ten types that Envoy takes by xDS, each under its own name", () => {
    expect(known.size).toBe(10);
    for (const type of envoyTypes) expect(Object.values(types)).toContain(type);
  });

  it.each(envoyTypes)("names a message of the API: $typeUrl", ({ typeUrl }) => {
    expect(messageOf(typeUrl)?.typeName).toBe(typeUrl.replace("type.googleapis.com/", ""));
  });

  it.each(envoyTypes)("says where the name lies: $typeUrl", ({ typeUrl, nameField = 1 }) => {
    const field = messageOf(typeUrl)?.fields.find(({ number }) => number === nameField);
    if (nameField === 0)
      expect(messageOf(typeUrl)?.fields.some(({ name }) => name === "name")).toBe(false);
    else
      expect(field).toMatchObject({
        fieldKind: "scalar",
        scalar: ScalarType.STRING,
        name: typeUrl.endsWith("Assignment") ? "cluster_name" : "name",
      });
  });

  it("has no name field for LbEndpoint alone", () => {
    expect(namesWhere(({ nameField }) => nameField === 0)).toEqual(["LbEndpoint"]);
  });

  it("names the collections of the API, which hold their entries in field 1", () => {
    expect(namesWhere(({ collectionTypeUrl }) => collectionTypeUrl !== undefined)).toEqual([
      "Cluster",
      "LbEndpoint",
      "Listener",
    ]);
    for (const { typeUrl, collectionTypeUrl } of envoyTypes) {
      if (collectionTypeUrl === undefined) continue;
      expect(collectionTypeUrl).toBe(`${typeUrl}Collection`);
      expect(messageOf(collectionTypeUrl)?.fields).toMatchObject([
        { number: 1, message: { typeName: "xds.core.v3.CollectionEntry" } },
      ]);
    }
  });

  it("is complete in each SotW response for these types only", () => {
    expect(namesWhere(({ fullStateInSotw }) => fullStateInSotw === true)).toEqual([
      "Cluster",
      "Listener",
      "ScopedRouteConfiguration",
    ]);
  });

  it("takes an empty first list as wildcard for these types only [S-WILD-6]", () => {
    expect(namesWhere(({ legacyWildcard }) => legacyWildcard !== false)).toEqual([
      "Cluster",
      "Listener",
      "ScopedRouteConfiguration",
      "VirtualHost",
    ]);
  });

  it("says a missing virtual host by an empty resource, and keeps extension configs in use", () => {
    expect(namesWhere(({ missingAs }) => missingAs === "empty-resource")).toEqual(["VirtualHost"]);
    expect(namesWhere(({ keepWhileReferenced }) => keepWhileReferenced === true)).toEqual([
      "TypedExtensionConfig",
    ]);
  });

  it("knows every type that it relates to another", () => {
    for (const { follows = [], refersTo = [], warms = [] } of envoyTypes) {
      for (const typeUrl of [
        ...follows.map((other) => other.typeUrl),
        ...refersTo,
        ...warms.map((other) => other.typeUrl),
      ])
        expect(known).toContain(typeUrl);
    }
  });

  it("is listed in an order in which nothing comes before what it follows", () => {
    envoyTypes.forEach((type, index) => {
      const earlier = envoyTypes.slice(0, index).map(({ typeUrl }) => typeUrl);
      for (const typeUrl of before(type)) expect(earlier).toContain(typeUrl);
    });
  });

  it.each([
    [types.clusterLoadAssignment, types.cluster],
    [types.lbEndpoint, types.clusterLoadAssignment],
    [types.listener, types.clusterLoadAssignment],
    [types.routeConfiguration, types.listener],
    [types.scopedRouteConfiguration, types.listener],
    [types.virtualHost, types.routeConfiguration],
    [types.cluster, types.secret],
    [types.cluster, types.typedExtensionConfig],
    [types.listener, types.secret],
    [types.listener, types.typedExtensionConfig],
    [types.typedExtensionConfig, types.secret],
  ])("sends $typeUrl after $typeUrl", (later, earlier) => {
    expect(before(later)).toContain(earlier.typeUrl);
  });

  it.each([
    types.listener,
    types.scopedRouteConfiguration,
    types.routeConfiguration,
    types.virtualHost,
  ])("waits until clusters and endpoints are accepted: $typeUrl", ({ follows }) => {
    expect(follows).toContainEqual({ typeUrl: types.cluster.typeUrl, when: "accepted" });
    expect(follows).toContainEqual({
      typeUrl: types.clusterLoadAssignment.typeUrl,
      when: "accepted",
    });
  });

  it.each([
    types.clusterLoadAssignment,
    types.lbEndpoint,
    types.secret,
    types.typedExtensionConfig,
    types.runtime,
    types.cluster,
  ])(
    "never waits for an ACK, which Envoy may hold back until this has come: $typeUrl",
    ({ follows = [] }) => {
      expect(follows.filter(({ when }) => when === "accepted")).toEqual([]);
    },
  );

  it.each([
    [
      "Cluster",
      types.cluster,
      [
        "Listener",
        "RouteConfiguration",
        "ScopedRouteConfiguration",
        "TypedExtensionConfig",
        "VirtualHost",
      ],
    ],
    ["ClusterLoadAssignment", types.clusterLoadAssignment, ["Cluster"]],
    ["LbEndpoint", types.lbEndpoint, ["ClusterLoadAssignment"]],
    ["RouteConfiguration", types.routeConfiguration, ["Listener", "ScopedRouteConfiguration"]],
    ["Secret", types.secret, ["Cluster", "Listener", "TypedExtensionConfig"]],
    ["TypedExtensionConfig", types.typedExtensionConfig, ["Cluster", "Listener"]],
    ["Listener", types.listener, []],
    ["Runtime", types.runtime, []],
  ])("removes a %s after these have let go", (_name, type, referrers) => {
    expect((type.refersTo ?? []).map((typeUrl) => typeUrl.split(".").at(-1)).sort()).toEqual(
      referrers,
    );
  });

  it("warms a cluster by the assignment that is requested, not by the locator in it [S-WARM-1] [N-18]", () => {
    const type = "envoy.config.endpoint.v3.ClusterLoadAssignment";
    const warmed = (service: string): readonly string[] => {
      const { value } = anyFromJson(
        {
          "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
          name: "x",
          type: "EDS",
          eds_cluster_config: { eds_config: { ads: {} }, service_name: service },
        },
        envoyRegistry(),
      );
      return types.cluster.warms?.flatMap(({ names }) => names(value)) ?? [];
    };
    expect(warmed("plain#1")).toEqual(["plain#1"]);
    expect(warmed(`xdstp://a/${type}/foo#alt=xdstp://b/${type}/bar`)).toEqual([
      `xdstp://a/${type}/foo`,
    ]);
    expect(warmed(`xdstp://a/${type}Collection/all#entry=foo`)).toEqual([]);
  });

  it("warms clusters by assignments and listeners by routes", () => {
    expect(
      envoyTypes.flatMap(({ typeUrl, warms = [] }) =>
        warms.map((child) => [typeUrl, child.typeUrl]),
      ),
    ).toEqual([
      [types.cluster.typeUrl, types.clusterLoadAssignment.typeUrl],
      [types.listener.typeUrl, types.routeConfiguration.typeUrl],
    ]);
  });
});

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
