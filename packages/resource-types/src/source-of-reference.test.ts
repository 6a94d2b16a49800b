import { fromBinary, toJson } from "@bufbuild/protobuf";
import { anyFromJson, envoyRegistry } from "@xdstp/protos/envoy";
import { ConfigSourceSchema } from "@xdstp/protos/envoy/core";
import { describe, expect, it } from "vitest";
import { referencesOf } from "./references-of.ts";
import { typeUrlOf, typeUrls } from "./type-urls.ts";

type Json = Readonly<Record<string, unknown>>;
const registry = envoyRegistry();
const encode = (typeUrl: string, json: Json): Uint8Array =>
  anyFromJson({ "@type": typeUrl, ...json }, registry).value;
const api = (uri: string): Json => ({
  apiConfigSource: {
    apiType: "AGGREGATED_DELTA_GRPC",
    transportApiVersion: "V3",
    grpcServices: [{ googleGrpc: { targetUri: uri, statPrefix: "x" } }],
  },
});

const read = (source: Uint8Array | undefined): unknown =>
  source && toJson(ConfigSourceSchema, fromBinary(ConfigSourceSchema, source), { registry });

/** Names, each with its ConfigSource. */
const of = (typeUrl: string, json: Json, files = false): readonly unknown[] =>
  referencesOf(typeUrl, encode(typeUrl, json), { files }).map(({ name, source }) =>
    source === undefined ? name : [name, read(source)],
  );
const eds = (config: Json | undefined): Json => ({
  name: "c",
  type: "EDS",
  edsClusterConfig: { ...(config !== undefined && { edsConfig: config }), serviceName: "s" },
});
const sds = (name: string, sdsConfig: Json): Json => ({ name, sdsConfig });
const tls = (...secrets: readonly Json[]): Json => ({
  name: "c",
  transportSocket: {
    name: "tls",
    typedConfig: {
      "@type": typeUrlOf("envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext"),
      commonTlsContext: { tlsCertificateSdsSecretConfigs: secrets },
    },
  },
});
const rds = (configSource: Json): Json => ({
  apiListener: {
    apiListener: {
      "@type": typeUrlOf(
        "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
      ),
      statPrefix: "x",
      rds: { configSource, routeConfigName: "r" },
    },
  },
});
const scoped = (scopedRoutes: Json): Json => ({
  apiListener: {
    apiListener: {
      "@type": typeUrlOf(
        "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
      ),
      statPrefix: "x",
      scopedRoutes: { name: "s", ...scopedRoutes },
    },
  },
});

describe("the ConfigSource beside a reference", () => {
  it.each([
    ["nothing", undefined, "s"],
    ["ads", { ads: {}, resourceApiVersion: "V3", initialFetchTimeout: "3s" }, "s"],
    [
      "ads for authorities",
      { ads: {}, authorities: [{ name: "a" }] },
      ["s", { ads: {}, authorities: [{ name: "a" }] }],
    ],
    ["self", { self: {} }, ["s", { self: {} }]],
    [
      "servers",
      { ...api("s:1"), authorities: [{ name: "a" }] },
      ["s", { ...api("s:1"), authorities: [{ name: "a" }] }],
    ],
  ])("is there unless it is plain ads: %s [C-AUTH-6]", (_, config, expected) => {
    expect(of(typeUrls.cluster, eds(config))).toEqual([expected]);
  });

  it("stands beside routes and secrets too, and a name beside several is there once for each [C-AUTH-4]", () => {
    expect(of(typeUrls.listener, rds(api("s:1")))).toEqual([["r", api("s:1")]]);
    expect(
      of(
        typeUrls.cluster,
        tls(
          sds("x", api("s:1")),
          sds("x", api("s:2")),
          sds("x", api("s:1")),
          sds("x", { ads: {} }),
        ),
      ),
    ).toEqual(["x", ["x", api("s:1")], ["x", api("s:2")]]);
  });

  it("stands beside the routes of all scopes of a listener, and beside a glob of scopes [C-AUTH-4, C-AUTH-6]", () => {
    const glob = "xdstp://a/envoy.config.route.v3.ScopedRouteConfiguration/s/*";
    const inline: Json = {
      scopedRouteConfigurationsList: {
        scopedRouteConfigurations: [
          { name: "1", routeConfigurationName: "r" },
          { name: "2", routeConfigurationName: "q" },
          {
            name: "3",
            routeConfiguration: {
              name: "own",
              virtualHosts: [
                {
                  name: "v",
                  domains: ["*"],
                  routes: [{ match: { prefix: "/" }, route: { cluster: "c" } }],
                },
              ],
            },
          },
        ],
      },
    };
    expect(of(typeUrls.listener, scoped({ rdsConfigSource: api("s:1"), ...inline }))).toEqual([
      "c",
      ["r", api("s:1")],
      ["q", api("s:1")],
    ]);
    expect(of(typeUrls.listener, scoped({ rdsConfigSource: { ads: {} }, ...inline }))).toEqual([
      "r",
      "q",
      "c",
    ]);
    expect(of(typeUrls.listener, scoped(inline))).toEqual(["r", "q", "c"]);
    expect(
      of(
        typeUrls.listener,
        scoped({
          rdsConfigSource: api("s:1"),
          scopedRds: { scopedRdsConfigSource: api("s:2"), srdsResourcesLocator: glob },
        }),
      ),
    ).toEqual([[glob, api("s:2")]]);
    const path: Json = { pathConfigSource: { path: "/rds.yaml" } };
    expect([
      of(typeUrls.listener, scoped({ rdsConfigSource: path, ...inline })),
      of(typeUrls.listener, scoped({ rdsConfigSource: path, ...inline }), true),
    ]).toEqual([["c"], ["c", ["r", path], ["q", path]]]);
    // A scope that comes by itself does not state the source: its listener does.
    expect(
      of(typeUrls.scopedRouteConfiguration, { name: "1", routeConfigurationName: "r" }),
    ).toEqual(["r"]);
  });

  it("that is said around the name of a scope is for the routes in it: one of its own, a file, self; plain ads says nothing [C-AUTH-4, C-AUTH-6]", () => {
    const locator = "xdstp://a/envoy.config.route.v3.ScopedRouteConfiguration/s";
    const path: Json = { pathConfigSource: { path: "/rds.yaml" } };
    const within = (json: Json, files = false): readonly unknown[] =>
      referencesOf(
        typeUrls.listener,
        encode(
          typeUrls.listener,
          scoped({
            scopedRds: { scopedRdsConfigSource: { ads: {} }, srdsResourcesLocator: locator },
            ...json,
          }),
        ),
        { files },
      ).map(({ typeUrl, name, source, within: said }) => [
        typeUrl === typeUrls.scopedRouteConfiguration && name === locator,
        source,
        said?.typeUrl,
        read(said?.source),
      ]);
    expect(
      [
        { rdsConfigSource: api("s:1") },
        { rdsConfigSource: { self: {} } },
        { rdsConfigSource: path },
        { rdsConfigSource: { ads: {} } },
        {},
      ].flatMap((json) => within(json)),
    ).toEqual([
      [true, undefined, typeUrls.routeConfiguration, api("s:1")],
      [true, undefined, typeUrls.routeConfiguration, { self: {} }],
      [true, undefined, typeUrls.routeConfiguration, undefined],
      [true, undefined, undefined, undefined],
      [true, undefined, undefined, undefined],
    ]);
    expect(within({ rdsConfigSource: path }, true)).toEqual([
      [true, undefined, typeUrls.routeConfiguration, path],
    ]);
  });

  it("is a file only for who asks for these", () => {
    const path: Json = { pathConfigSource: { path: "/eds.yaml" } };
    expect([of(typeUrls.cluster, eds(path)), of(typeUrls.cluster, eds(path), true)]).toEqual([
      [],
      [["s", path]],
    ]);
    expect([of(typeUrls.listener, rds(path)), of(typeUrls.listener, rds(path), true)]).toEqual([
      [],
      [["r", path]],
    ]);
  });
});
