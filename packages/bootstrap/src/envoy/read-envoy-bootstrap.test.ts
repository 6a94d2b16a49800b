import { fromJson, type JsonObject } from "@bufbuild/protobuf";
import { XdsError } from "@xdstp/core";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { describe, expect, it } from "vitest";

import { api, cluster, envoy, from, google, type Json } from "../../test/envoy-json.ts";
import { encodeNode, serverId, type SourceConfig } from "../index.ts";
import { readEnvoyBootstrap } from "./index.ts";

const ads = { ads_config: api([google("ads:1")], { api_type: "DELTA_GRPC" }) };
const dynamic = (more: Json = {}): Json => ({ dynamic_resources: { ...ads, ...more } });

/** Returns a source as `a, b -> s0 s1`, where `*` is the default source. */
const shown = ({ servers, authorities, opaque }: SourceConfig): string =>
  `${authorities?.join(", ") ?? (opaque === true ? "opaque" : "*")} -> ${servers.map(({ uri }) => uri).join(" ")}`;
const sourcesOf = (bootstrap: Json): readonly string[] =>
  readEnvoyBootstrap(bootstrap).sources.map(shown);

function problemOf(bootstrap: object | string): string {
  try {
    return JSON.stringify(readEnvoyBootstrap(bootstrap));
  } catch (error) {
    if (error instanceof XdsError) return error.message;
    throw error;
  }
}

const text = `
node: {id: web-1, cluster: web, locality: {region: r, zone: z}, metadata: {stage: test}}
node_context_params: [id, locality.zone, metadata]
admin: {address: {socket_address: {address: 127.0.0.1, port_value: 0}}}
dynamic_resources:
  lds_resources_locator: xdstp://acme/envoy.config.listener.v3.Listener/web/*
  lds_config: {ads: {}, resource_api_version: V3, initial_fetch_timeout: 5s}
  cds_config: {ads: {}, resource_api_version: V3}
  ads_config:
    api_type: DELTA_GRPC
    transport_api_version: V3
    grpc_services: [{envoy_grpc: {cluster_name: xds}}]
default_config_source:
  resource_api_version: V3
  api_config_source:
    api_type: AGGREGATED_DELTA_GRPC
    transport_api_version: V3
    grpc_services: [{google_grpc: {target_uri: "edge.example:443", stat_prefix: edge, channel_credentials: {ssl_credentials: {}}}}]
static_resources:
  clusters:
  - name: xds
    type: STRICT_DNS
    http2_protocol_options: {}
    load_assignment: {cluster_name: xds, endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: xds.example, port_value: 18000}}}}]}]}
`;

describe("readEnvoyBootstrap()", () => {
  it("reads what a bootstrap says of xDS, and nothing else", () => {
    const { sources, ads: main, clusters, ...read } = readEnvoyBootstrap(text);
    expect(read).toEqual({
      node: {
        id: "web-1",
        cluster: "web",
        locality: { region: "r", zone: "z", subZone: "" },
        metadata: { stage: "test" },
      },
      nodeContextParams: ["id", "locality.zone", "metadata"],
      resourcesLocators: { listeners: "xdstp://acme/envoy.config.listener.v3.Listener/web/*" },
      configSources: {
        listeners: { kind: "ads", authorities: [], initialFetchMs: 5_000 },
        clusters: { kind: "ads", authorities: [], initialFetchMs: 15_000 },
      },
    });
    expect(sources.map(shown)).toEqual(["opaque -> xds.example:18000", "* -> edge.example:443"]);
    expect(main?.servers).toEqual([
      {
        uri: "xds.example:18000",
        credentials: { type: "insecure" },
        features: new Set(),
        variant: "delta",
        aggregated: true,
        keepRemoved: false,
      },
    ]);
    expect([clusters("xds")?.[0]?.uri, clusters("other")]).toEqual([
      "xds.example:18000",
      undefined,
    ]);
  });

  it.each<[string, Json, readonly string[]]>([
    [
      "the one beside, which is handed on, and ADS for all else",
      dynamic({ lds_config: from("beside:1", ["a"]) }),
      ["* -> ads:1"],
    ],
    [
      "config_sources in order, two of which list one",
      { ...dynamic(), config_sources: [from("one:1", ["a", "b"]), from("two:1", ["a"])] },
      ["a, b -> one:1", "a -> two:1", "opaque -> ads:1"],
    ],
    [
      "default_config_source last",
      {
        ...dynamic(),
        default_config_source: from("rest:1"),
        config_sources: [from("one:1", ["a"])],
      },
      ["a -> one:1", "opaque -> ads:1", "* -> rest:1"],
    ],
    [
      "an entry without authorities at the end, as the default",
      { ...dynamic(), config_sources: [from("one:1", ["a"]), from("rest:1")] },
      ["a -> one:1", "opaque -> ads:1", "* -> rest:1"],
    ],
    [
      "the default alone, opaque names included",
      { default_config_source: from("rest:1") },
      ["* -> rest:1"],
    ],
    [
      "ads among them",
      { ...dynamic(), config_sources: [{ ads: {}, authorities: [{ name: "a" }] }] },
      ["a -> ads:1", "opaque -> ads:1"],
    ],
    [
      "ads as the default",
      { ...dynamic(), default_config_source: { ads: {} } },
      ["opaque -> ads:1", "* -> ads:1"],
    ],
    [
      "nothing for others than are listed",
      { config_sources: [from("one:1", [""])] },
      [" -> one:1"],
    ],
  ])("orders sources: %s [C-AUTH-1, C-AUTH-3]", (_, bootstrap, sources) => {
    expect(sourcesOf(bootstrap)).toEqual(sources);
  });

  it("hands on the ConfigSource beside with its authorities, which goes before all others [C-AUTH-1, C-AUTH-6]", () => {
    const { configSources } = readEnvoyBootstrap(
      dynamic({
        lds_config: from("beside:1", ["a"]),
        cds_config: { ads: {}, authorities: [{ name: "b" }] },
      }),
    );
    expect(configSources).toMatchObject({
      listeners: { kind: "servers", authorities: ["a"], servers: [{ uri: "beside:1" }] },
      clusters: { kind: "ads", authorities: ["b"] },
    });
  });

  it("is without sources where only listeners and clusters have ConfigSources", () => {
    expect(readEnvoyBootstrap({ dynamic_resources: { lds_config: from("l:1") } })).toMatchObject({
      sources: [],
      configSources: { listeners: { servers: [{ uri: "l:1" }] } },
    });
  });

  it("gives a server one id, whether by ADS, by an aggregated source, by cluster or by address [C-AGG-1]", () => {
    const bootstrap = {
      dynamic_resources: { ads_config: api([envoy("xds")], { api_type: "DELTA_GRPC" }) },
      static_resources: { clusters: [cluster("xds")] },
      config_sources: [
        from("xds.example:443", ["a"]),
        { api_config_source: api([envoy("xds")]), authorities: [{ name: "b" }] },
      ],
      default_config_source: { ads: {} },
    };
    const sources = readEnvoyBootstrap(bootstrap).sources;
    expect(sources).toHaveLength(4);
    expect(new Set(sources.flatMap(({ servers }) => servers.map(serverId))).size).toBe(1);
  });

  it("reads a message, and JSON in either spelling", () => {
    const schema = envoyRegistry().getMessage("envoy.config.bootstrap.v3.Bootstrap");
    const bootstrap: Json = {
      ...dynamic({ cds_config: { ads: {} } }),
      node: { id: "n" },
      node_context_params: ["id"],
    };
    const message =
      schema && fromJson(schema, bootstrap as JsonObject, { registry: envoyRegistry() });
    const read = { ...readEnvoyBootstrap(bootstrap), clusters: undefined };
    const others = [
      message ?? {},
      JSON.stringify({
        dynamicResources: bootstrap.dynamic_resources,
        node: bootstrap.node,
        nodeContextParams: ["id"],
      }),
    ];
    for (const other of others)
      expect({ ...readEnvoyBootstrap(other), clusters: undefined }).toEqual(read);
  });

  it("hands on the dynamic parameters of the node, which travel in the node only [N-65]", () => {
    const { node } = readEnvoyBootstrap({
      ...dynamic(),
      node: { id: "n", dynamic_parameters: { "t/a.B": { params: { k: "v" } } } },
    });
    expect(node.dynamicParameters).toEqual(new Map([["t/a.B", new Map([["k", "v"]])]]));
    expect(Buffer.from(encodeNode(node)).toString("latin1")).toContain("t/a.B");
  });

  it.each<[object | string, string]>([
    [
      "node: [",
      "INVALID_ARGUMENT] bootstrap: the bootstrap is neither YAML nor JSON at line 1 column 8",
    ],
    ["", "INVALID_ARGUMENT] bootstrap: the bootstrap is neither YAML nor JSON"],
    ["null", "INVALID_ARGUMENT] bootstrap: the bootstrap is null; it must be an object"],
    [
      JSON.parse("null") as object,
      "INVALID_ARGUMENT] bootstrap: the bootstrap is null; it must be an object",
    ],
    [
      {},
      "INVALID_ARGUMENT] bootstrap: the bootstrap names no management server; give dynamic_resources.ads_config, config_sources or default_config_source",
    ],
    [
      { defualt_config_source: {} },
      "INVALID_ARGUMENT] bootstrap: defualt_config_source is not a field of envoy.config.bootstrap.v3.Bootstrap",
    ],
    [
      { dynamic_resources: { sds_config: {} } },
      "INVALID_ARGUMENT] bootstrap: dynamic_resources.sds_config is not a field of envoy.config.bootstrap.v3.Bootstrap.DynamicResources",
    ],
    [
      { dynamic_resources: [] },
      "INVALID_ARGUMENT] bootstrap: dynamic_resources is an array; it must be an object",
    ],
    [{ ...dynamic(), node: { ids: "" } }, "INVALID_ARGUMENT] bootstrap: node.ids is unknown"],
    [
      { ...dynamic(), node_context_params: ["id", "locality"] },
      'INVALID_ARGUMENT] bootstrap: node_context_params[1] is "locality", which is not a field of the node',
    ],
    [
      dynamic({ ads_config: api([envoy("xds")]) }),
      'INVALID_ARGUMENT] bootstrap: dynamic_resources.ads_config.grpc_services[0].envoy_grpc.cluster_name is "xds", and this static cluster does not exist; add',
    ],
    [
      dynamic({ lds_config: { path_config_source: {} } }),
      "INVALID_ARGUMENT] bootstrap: dynamic_resources.lds_config.path_config_source.path is empty",
    ],
    [
      dynamic({ lds_config: { self: {} } }),
      "INVALID_ARGUMENT] bootstrap: dynamic_resources.lds_config says self",
    ],
    [
      { dynamic_resources: { cds_config: { ads: {} } } },
      "INVALID_ARGUMENT] bootstrap: dynamic_resources.cds_config says ads, and the bootstrap has no dynamic_resources.ads_config",
    ],
    [
      dynamic({ lds_resources_locator: "xdstp://a/envoy.config.cluster.v3.Cluster/*" }),
      'INVALID_ARGUMENT] bootstrap: dynamic_resources.lds_resources_locator is "xdstp://a/envoy.config.cluster.v3.Cluster/*"; give a collection like "xdstp://authority/envoy.config.listener.v3.Listener/*"',
    ],
    [
      dynamic({ cds_resources_locator: "xdstp://a/envoy.config.cluster.v3.Cluster/one" }),
      "cds_resources_locator is",
    ],
    [
      dynamic({ cds_resources_locator: "cds" }),
      "INVALID_ARGUMENT] bootstrap: dynamic_resources.cds_resources_locator is not a locator:",
    ],
    [
      { config_sources: [from("s:1"), from("t:1", ["a"])] },
      "INVALID_ARGUMENT] bootstrap: config_sources[0] has no authorities, so that nothing would be asked of it; only the last",
    ],
    [
      { config_sources: [from("s:1")], default_config_source: from("t:1") },
      "INVALID_ARGUMENT] bootstrap: config_sources[0] has no authorities, so it is the default, and there is default_config_source; leave one out",
    ],
    [
      { config_sources: [{ self: {}, authorities: [{ name: "a" }] }] },
      "INVALID_ARGUMENT] bootstrap: config_sources[0] says self",
    ],
    [
      { default_config_source: { ads: {} } },
      "INVALID_ARGUMENT] bootstrap: default_config_source says ads, and the bootstrap has no",
    ],
    [
      { config_sources: [from("s:1", ["a"], { api_type: "REST" })] },
      "INVALID_ARGUMENT] bootstrap: config_sources[0].api_config_source.grpc_services is for gRPC",
    ],
    [
      { dynamic_resources: { ads_config: api([google("s:1")], { api_type: "REST" }) } },
      "INVALID_ARGUMENT] bootstrap: dynamic_resources.ads_config.api_type is REST, which polls for each type",
    ],
  ])("says of %j what is wrong where", (bootstrap, problem) => {
    expect(problemOf(bootstrap)).toContain(problem);
  });

  it.each([
    "xdstp://a/envoy.config.listener.v3.Listener/*",
    "xdstp://a/envoy.config.listener.v3.Listener/x/*?k=v",
    "xdstp://a/envoy.config.listener.v3.ListenerCollection/x",
    "xdstp://a/envoy.config.listener.v3.Listener/*#alt=xdstp://b/envoy.config.listener.v3.Listener/*",
  ])("takes the locator %s", (locator) => {
    expect(
      readEnvoyBootstrap(dynamic({ lds_resources_locator: locator })).resourcesLocators,
    ).toEqual({ listeners: locator });
  });

  it.each([
    [dynamic({ cds_resources_locator: "cds" }), "N-01"],
    [{ ...dynamic(), node_context_params: ["locality"] }, "N-62"],
  ])("names the rule that a name in it breaks, in %j", (bootstrap, rule) => {
    expect(() => readEnvoyBootstrap(bootstrap)).toThrow(
      expect.objectContaining({ context: { rule } }) as Error,
    );
  });

  it("calls the bootstrap what it is told", () => {
    expect(() => readEnvoyBootstrap({}, "envoy.yaml")).toThrow(
      "envoy.yaml: the bootstrap names no management server",
    );
  });
});
