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
      'bad-cluster source_address.address: "a.example" is not an IP address',
      bind,
      { source_address: { address: "a.example" } },
    ],
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
    [resources, { ads_config: { api_type: "DELTA_GRPC", grpc_services: [{}] } }],
    [layer, { static_layer: { a: { b: 1, c: true, d: "e", f: {} } } }],
  ])("takes %s %j", (type, json) => {
    expect(envoyRejections(type, json)).toEqual([]);
  });
});
