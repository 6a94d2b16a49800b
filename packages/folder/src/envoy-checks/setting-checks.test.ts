import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { envoyRejections } from "../../test/envoy-rejections.ts";

const filters = "envoy.extensions.filters";
const cluster = "envoy.config.cluster.v3.Cluster";
const listener = "envoy.config.listener.v3.Listener";
const manager = `${filters}.network.http_connection_manager.v3.HttpConnectionManager`;
const redis = `${filters}.network.redis_proxy.v3.RedisProxy`;
const layer = "envoy.config.bootstrap.v3.RuntimeLayer";
const backOff = "envoy.config.route.v3.RetryPolicy.RetryBackOff";
const limit = `${filters}.http.local_ratelimit.v3.LocalRateLimit`;
const rule = `${filters}.http.header_to_metadata.v3.Config.Rule`;
const health = `${filters}.http.health_check.v3.HealthCheck`;
const processingMode = `${filters}.http.ext_proc.v3.ProcessingMode`;
const pipe = "envoy.config.core.v3.Pipe";
const processor = `${filters}.http.ext_proc.v3.ExternalProcessor`;
const resources = "envoy.config.bootstrap.v3.Bootstrap.DynamicResources";
const weight = "envoy.config.route.v3.WeightedCluster.ClusterWeight";
const bind = "envoy.config.core.v3.BindConfig";
const routes = "envoy.config.route.v3.RouteConfiguration";

const address = (protocol: string) => ({
  socket_address: { protocol, address: "::1", port_value: 80 },
});
const extension = (name: string, type: string) => ({
  name,
  typed_config: { "@type": `type.googleapis.com/${type}` },
});
const detection = extension(
  "a",
  "envoy.extensions.http.original_ip_detection.custom_header.v3.CustomHeaderConfig",
);
const tcp = extension("a", `${filters}.network.tcp_proxy.v3.TcpProxy`);
const route = (plugin: string) => ({
  cluster_specifier_plugins: [{ extension: { name: "known" } }],
  virtual_hosts: [{ domains: ["*"], routes: [{ route: { cluster_specifier_plugin: plugin } }] }],
});
const policy = {
  policies: [
    {
      typed_extension_config: extension(
        "a",
        "envoy.extensions.load_balancing_policies.random.v3.Random",
      ),
    },
  ],
};
const bootstrap = "envoy.config.bootstrap.v3.Bootstrap";
const http2 = "envoy.config.core.v3.Http2ProtocolOptions";
const zipkin = "envoy.config.trace.v3.ZipkinConfig";
/** A bootstrap with a tracer, and a connection manager with these settings of tracing. */
const tracedBy = (tracing: JsonObject | undefined): JsonObject => ({
  tracing: {
    http: {
      name: "a",
      typed_config: {
        "@type": `type.googleapis.com/${zipkin}`,
        collector_cluster: "a",
        collector_endpoint: "/a",
      },
    },
  },
  static_resources: {
    listeners: [
      {
        address: address("TCP"),
        filter_chains: [
          {
            filters: [
              {
                name: "http",
                typed_config: {
                  "@type": `type.googleapis.com/${manager}`,
                  route_config: {},
                  ...(tracing !== undefined && { tracing }),
                },
              },
            ],
          },
        ],
      },
    ],
  },
});
const tunnel = `${filters}.network.tcp_proxy.v3.TcpProxy.TunnelingConfig`;
const tag = "envoy.config.metrics.v3.TagSpecifier";
const source = (host: string) => ({ address: host, port_value: 0 });
const extra = (...all: readonly string[]) => ({
  extra_source_addresses: all.map((host) => ({ address: source(host) })),
});
const bindingOfAll = {
  cluster_manager: {
    upstream_bind_config: { source_address: source("10.0.0.1"), ...extra("10.0.0.2") },
  },
};
const setting = (identifier: number, value: number) => ({ identifier, value });
const scopes = (scope: JsonObject) => ({
  scoped_routes: { scoped_route_configurations_list: { scoped_route_configurations: [scope] } },
});
const hosts = (config: JsonObject) => ({ vhds: { config_source: config } });
const hostsAt =
  "static_resources.listeners[0].filter_chains[0].filters[0].typed_config.route_config.vhds.config_source.ads";
const hostsOverAds = {
  node: { id: "a", cluster: "b" },
  static_resources: {
    listeners: [
      {
        address: address("TCP"),
        filter_chains: [
          {
            filters: [
              {
                name: "http",
                typed_config: {
                  "@type": `type.googleapis.com/${manager}`,
                  route_config: hosts({ ads: {} }),
                },
              },
            ],
          },
        ],
      },
    ],
  },
};

describe("settings that Envoy compares", () => {
  it.each<readonly [problem: string, type: string, json: JsonObject]>([
    [
      "bad-route max_interval: must not be less than base_interval",
      backOff,
      { base_interval: "1.000000002s", max_interval: "1.000000001s" },
    ],
    [
      "bad-route cluster_header: cannot be set next to name",
      weight,
      { name: "a", cluster_header: "b" },
    ],
    [
      'bad-route virtual_hosts[0].routes[0].route.cluster_specifier_plugin: "other" is not one of the cluster_specifier_plugins',
      routes,
      route("other"),
    ],
    [
      "bad-listener filter_chains[0]: needs a name, which filter_chain_matcher chooses",
      listener,
      {
        address: address("TCP"),
        filter_chains: [{ filters: [tcp] }],
        filter_chain_matcher: {},
      },
    ],
    [
      "bad-listener filter_chains: are for connections, which a listener of UDP without QUIC does not have",
      listener,
      { address: address("UDP"), filter_chains: [{ filters: [tcp] }] },
    ],
    [
      "bad-listener original_ip_detection_extensions: cannot be set next to use_remote_address",
      manager,
      { use_remote_address: true, original_ip_detection_extensions: [detection] },
    ],
    [
      "bad-listener inline_code: cannot be set next to default_source_code",
      `${filters}.http.lua.v3.Lua`,
      { inline_code: "a = 1", default_source_code: { inline_string: "a = 1" } },
    ],
    [
      "bad-listener strip_matching_host_port: cannot be set next to strip_any_host_port",
      manager,
      { strip_matching_host_port: true, strip_any_host_port: true },
    ],
    [
      "bad-listener request_body_mode: FULL_DUPLEX_STREAMED needs the trailers too",
      processingMode,
      { request_body_mode: "FULL_DUPLEX_STREAMED", response_trailer_mode: "SEND" },
    ],
    [
      "bad-listener response_body_mode: FULL_DUPLEX_STREAMED needs the trailers too",
      processingMode,
      { response_body_mode: "FULL_DUPLEX_STREAMED", response_trailer_mode: "SKIP" },
    ],
    [
      'bad-value mode: cannot be set where the path begins with "@"',
      pipe,
      { path: "@/a", mode: 0o644 },
    ],
    ["bad-listener : needs grpc_service or http_service", processor, {}],
    [
      "bad-listener http_service: cannot be set next to grpc_service",
      processor,
      { grpc_service: {}, http_service: {} },
    ],
    ["bad-listener : needs header or cookie", rule, { on_header_present: {} }],
    [
      "bad-listener cookie: cannot be set next to header",
      rule,
      { header: "a", cookie: "b", on_header_present: {} },
    ],
    ["bad-listener : needs on_header_present or on_header_missing", rule, { header: "a" }],
    [
      "bad-listener cache_time: needs pass_through_mode: true",
      health,
      { pass_through_mode: false, cache_time: "1s" },
    ],
    ["bad-listener : needs a route", redis, {}],
    [
      'bad-listener prefix_routes.routes[1].prefix: "A" is the prefix of an earlier route',
      redis,
      { prefix_routes: { case_insensitive: true, routes: [{ prefix: "a" }, { prefix: "A" }] } },
    ],
    [
      "bad-value token_bucket.fill_interval: must be at least 0.05s",
      limit,
      { token_bucket: { fill_interval: "0.049s" } },
    ],
    [
      "bad-value token_bucket.fill_interval: must be at least 0.05s",
      `${filters}.network.local_ratelimit.v3.LocalRateLimit`,
      { token_bucket: { fill_interval: "0.049s" } },
    ],
    [
      "bad-cluster load_balancing_policy: a cluster of type ORIGINAL_DST needs lb_policy CLUSTER_PROVIDED too",
      cluster,
      { type: "ORIGINAL_DST", load_balancing_policy: policy },
    ],
    [
      'bad-cluster source_address.address: "a.example" is not an IP address, which a source address needs',
      bind,
      { source_address: { address: "a.example" } },
    ],
    [
      "bad-cluster source_address.named_port: is not a number, which a source address needs",
      bind,
      { source_address: { address: "::1", named_port: "http" } },
    ],
    [
      'bad-cluster extra_source_addresses[0].address.address: "a.example" is not an IP address, which a source address needs',
      bind,
      { source_address: source("::1"), ...extra("a.example") },
    ],
    [
      "bad-cluster extra_source_addresses[0].address: is an address of IPv4, as source_address is",
      bind,
      { source_address: source("10.0.0.1"), ...extra("10.0.0.2") },
    ],
    [
      "bad-cluster additional_source_addresses[0]: is an address of IPv6, as source_address is",
      bind,
      { source_address: source("::1"), additional_source_addresses: [source("::2")] },
    ],
    [
      "bad-cluster extra_source_addresses[1].address: is a second one; there can be one in addition to source_address",
      bind,
      { source_address: source("10.0.0.1"), ...extra("::1", "::2") },
    ],
    ["bad-cluster extra_source_addresses[0].address: needs source_address", bind, extra("::1")],
    [
      "bad-cluster additional_source_addresses: cannot be set next to extra_source_addresses",
      bind,
      {
        source_address: source("10.0.0.1"),
        ...extra("::1"),
        additional_source_addresses: [source("::2")],
      },
    ],
    [
      "bad-cluster cluster_manager.upstream_bind_config.extra_source_addresses[0].address: is an address of IPv4, as source_address is",
      bootstrap,
      { ...bindingOfAll, static_resources: { clusters: [{ name: "a" }] } },
    ],
    [
      "bad-value custom_settings_parameters[0]: sets hpack_table_size again",
      http2,
      { hpack_table_size: 100, custom_settings_parameters: [setting(1, 100)] },
    ],
    [
      "bad-value custom_settings_parameters[0]: enables server push, which Envoy does not have",
      http2,
      { custom_settings_parameters: [setting(2, 1)] },
    ],
    [
      "bad-value custom_settings_parameters[0]: sets allow_connect",
      http2,
      { custom_settings_parameters: [setting(8, 0)] },
    ],
    [
      "bad-value custom_settings_parameters[1]: sets 10 again, to another value",
      http2,
      { custom_settings_parameters: [setting(10, 1), setting(10, 2)] },
    ],
    [
      "bad-value collector_endpoint_version: is required",
      zipkin,
      { collector_cluster: "a", collector_endpoint: "/a" },
    ],
    [
      "bad-value tracing.http.typed_config.collector_endpoint_version: is required",
      bootstrap,
      tracedBy({}),
    ],
    [
      "bad-listener post_path: needs use_post: true",
      tunnel,
      { hostname: "a.example:443", post_path: "/a" },
    ],
    [
      "bad-listener scoped_routes.scoped_route_configurations_list.scoped_route_configurations[0].route_configuration_name: is for scopes of scoped_rds",
      manager,
      scopes({ route_configuration_name: "a", route_configuration: { name: "a" } }),
    ],
    [
      "bad-listener scoped_routes.scoped_route_configurations_list.scoped_route_configurations[0]: needs route_configuration",
      manager,
      scopes({}),
    ],
    [
      "bad-route vhds.config_source.api_config_source.api_type: must be DELTA_GRPC",
      routes,
      hosts({ api_config_source: { api_type: "GRPC", grpc_services: [{}] } }),
    ],
    [
      "bad-route vhds.config_source: must be ads, or an api_config_source of type DELTA_GRPC",
      routes,
      hosts({ path_config_source: { path: "a" } }),
    ],
    [`bad-route ${hostsAt}: needs dynamic_resources.ads_config`, bootstrap, hostsOverAds],
    [
      `bad-route ${hostsAt}: needs api_type DELTA_GRPC in dynamic_resources.ads_config`,
      bootstrap,
      {
        ...hostsOverAds,
        dynamic_resources: { ads_config: { api_type: "GRPC", grpc_services: [{}] } },
      },
    ],
    ["bad-pattern : needs regex or fixed_value", tag, { tag_name: "a" }],
    ...["(", "a**", "(?<name>a)", "(?P<name>a)", "(?i)a", "(?<=a)b"].map(
      (regex) =>
        [
          "bad-pattern regex: is not a pattern of ECMAScript",
          tag,
          { tag_name: "a", regex },
        ] as const,
    ),
    [
      "bad-bootstrap ads_config.api_type: must be GRPC or DELTA_GRPC",
      resources,
      { ads_config: { api_type: "AGGREGATED_GRPC" } },
    ],
    [
      'bad-bootstrap static_layer["a"]["b"]: is a list, which is not a value of the runtime',
      layer,
      { static_layer: { a: { b: [] } } },
    ],
    [
      'bad-bootstrap static_layer["a"]: is null, which is not a value of the runtime',
      layer,
      { static_layer: { a: null } },
    ],
  ])("%s", (problem, type, json) => {
    expect(envoyRejections(type, json)).toEqual([problem]);
  });

  it.each<readonly [type: string, json: JsonObject]>([
    [backOff, { base_interval: "1s", max_interval: "1s" }],
    [weight, { cluster_header: "b" }],
    [routes, route("known")],
    [manager, { use_remote_address: false, original_ip_detection_extensions: [detection] }],
    [manager, { strip_matching_host_port: true, strip_any_host_port: false }],
    [processingMode, { request_body_mode: "FULL_DUPLEX_STREAMED", request_trailer_mode: "SEND" }],
    [processingMode, { request_body_mode: "STREAMED", response_body_mode: "BUFFERED" }],
    [pipe, { path: "@/a" }],
    [pipe, { path: "/a", mode: 0o644 }],
    [health, { pass_through_mode: false, cache_time: "0s" }],
    [health, { pass_through_mode: true, cache_time: "1s" }],
    [redis, { prefix_routes: { routes: [{ prefix: "a" }, { prefix: "A" }] } }],
    [limit, { token_bucket: { fill_interval: "0.05s" } }],
    [
      cluster,
      { type: "ORIGINAL_DST", lb_policy: "CLUSTER_PROVIDED", load_balancing_policy: policy },
    ],
    [bind, { source_address: { address: "::" } }],
    [bind, { source_address: source("10.0.0.1"), ...extra("::1") }],
    [bind, { source_address: source("10.0.0.1"), additional_source_addresses: [source("::1")] }],
    [
      bind,
      {
        source_address: source("10.0.0.1"),
        ...extra("10.0.0.2", "10.0.0.3"),
        local_address_selector: { name: "own" },
      },
    ],
    // No cluster uses the addresses for all.
    [bootstrap, bindingOfAll],
    [
      http2,
      {
        max_concurrent_streams: 1,
        custom_settings_parameters: [setting(1, 1), setting(2, 0), setting(10, 1), setting(10, 1)],
      },
    ],
    [
      zipkin,
      {
        collector_cluster: "a",
        collector_endpoint: "/a",
        collector_endpoint_version: "HTTP_PROTO",
      },
    ],
    // Envoy creates the tracer of a bootstrap only if a connection manager uses it.
    [bootstrap, tracedBy(undefined)],
    [
      bootstrap,
      tracedBy({ provider: extension("b", "envoy.config.trace.v3.OpenTelemetryConfig") }),
    ],
    [tunnel, { hostname: "a.example:443", post_path: "/a", use_post: true }],
    [manager, scopes({ route_configuration: { name: "a" } })],
    [routes, hosts({ ads: {} })],
    [routes, hosts({ api_config_source: { api_type: "DELTA_GRPC", grpc_services: [{}] } })],
    [
      bootstrap,
      {
        ...hostsOverAds,
        dynamic_resources: { ads_config: { api_type: "DELTA_GRPC", grpc_services: [{}] } },
      },
    ],
    [tag, { tag_name: "envoy.cluster_name" }],
    [tag, { tag_name: "a", fixed_value: "(" }],
    ...["^a\\.((.+?)\\.)", "(?=a)(?!b)(?:c)", "[[:alpha:]](?:a)", "\\(?<a", "[(?<]"].map(
      (regex) => [tag, { tag_name: "a", regex }] as const,
    ),
    [resources, { ads_config: { api_type: "DELTA_GRPC", grpc_services: [{}] } }],
    [layer, { static_layer: { a: { b: 1, c: true, d: "e", f: {} } } }],
  ])("takes %s %j", (type, json) => {
    expect(envoyRejections(type, json)).toEqual([]);
  });
});
