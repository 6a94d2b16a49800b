import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { envoyRejections } from "../../test/envoy-rejections.ts";

const bootstrap = "envoy.config.bootstrap.v3.Bootstrap";
const runtime = "envoy.config.bootstrap.v3.LayeredRuntime";
const statsd = "envoy.config.metrics.v3.StatsdSink";
const dogStatsd = "envoy.config.metrics.v3.DogStatsdSink";
const graphite = "envoy.extensions.stat_sinks.graphite_statsd.v3.GraphiteStatsdSink";
const jwt = "envoy.extensions.filters.http.jwt_authn.v3.JwtProvider";

const node = { id: "a", cluster: "b" };
const address = (host: string): JsonObject => ({
  address: { socket_address: { address: host, port_value: 8125 } },
});
const sink = (json: JsonObject): JsonObject => ({
  stats_sinks: [{ name: "a", typed_config: { "@type": `type.googleapis.com/${statsd}`, ...json } }],
});
const viaGrpc = (cluster: string): JsonObject => ({
  api_type: "GRPC",
  transport_api_version: "V3",
  grpc_services: [{ envoy_grpc: { cluster_name: cluster } }],
});
const viaRest = (cluster: string): JsonObject => ({
  api_config_source: { api_type: "REST", transport_api_version: "V3", cluster_names: [cluster] },
});
const ads = { ads_config: viaGrpc("static") };
const byGrpc = (cluster: string): JsonObject => ({ api_config_source: viaGrpc(cluster) });
/** A bootstrap with the cluster "eds", whose endpoints come from a source. */
const withEds = (source: JsonObject, rest: JsonObject = {}): JsonObject => ({
  node,
  dynamic_resources: ads,
  static_resources: {
    clusters: [
      { name: "static" },
      { name: "eds", type: "EDS", eds_cluster_config: { eds_config: source } },
    ],
  },
  ...rest,
});
const rtds = (source: JsonObject): JsonObject => ({
  layered_runtime: { layers: [{ name: "a", rtds_layer: { name: "a", rtds_config: source } }] },
});
const why = "gets its endpoints from a server, so it cannot lead to one";

describe("bootstraps", () => {
  it.each<readonly [problem: string, type: string, json: JsonObject]>([
    [
      "bad-bootstrap layers[2].admin_layer: only one layer can be that of the admin page, and layers[0] is it already",
      runtime,
      {
        layers: [
          { name: "a", admin_layer: {} },
          { name: "b", static_layer: {} },
          { name: "c", admin_layer: {} },
        ],
      },
    ],
    [
      "bad-bootstrap watchdog: cannot be set next to watchdogs",
      bootstrap,
      { watchdog: {}, watchdogs: {} },
    ],
    ...[statsd, dogStatsd, graphite].map(
      (type) =>
        [
          'bad-bootstrap address.socket_address.address: "statsd.example" is not an IP address',
          type,
          address("statsd.example"),
        ] as const,
    ),
    [
      "missing-node node: has no id and no cluster, which stats_sinks[0].typed_config.tcp_cluster_name needs",
      bootstrap,
      sink({ tcp_cluster_name: "a" }),
    ],
    [
      `bad-bootstrap static_resources.clusters[1].eds_cluster_config.eds_config.api_config_source.grpc_services[0].envoy_grpc.cluster_name: the cluster "eds" ${why}`,
      bootstrap,
      withEds(byGrpc("eds")),
    ],
    [
      `bad-bootstrap dynamic_resources.cds_config.api_config_source.cluster_names[0]: the cluster "eds" ${why}`,
      bootstrap,
      withEds({ ads: {} }, { dynamic_resources: { ...ads, cds_config: viaRest("eds") } }),
    ],
    [
      `bad-bootstrap dynamic_resources.ads_config.grpc_services[0].envoy_grpc.cluster_name: the cluster "eds" ${why}`,
      bootstrap,
      withEds({ ads: {} }, { dynamic_resources: { ads_config: viaGrpc("eds") } }),
    ],
    [
      `bad-bootstrap layered_runtime.layers[0].rtds_layer.rtds_config.api_config_source.grpc_services[0].envoy_grpc.cluster_name: the cluster "eds" ${why}`,
      bootstrap,
      withEds({ ads: {} }, rtds(byGrpc("eds"))),
    ],
    [
      "bad-jwt local_jwks.inline_string: has no key",
      jwt,
      { local_jwks: { inline_string: '{"keys": []}' } },
    ],
  ])("%s", (problem, type, json) => {
    expect(envoyRejections(type, json)).toEqual([problem]);
  });

  it.each<readonly [type: string, json: JsonObject]>([
    [runtime, { layers: [{ name: "a", admin_layer: {} }] }],
    [bootstrap, { watchdogs: {} }],
    [statsd, address("::1")],
    [statsd, { address: { pipe: { path: "/statsd.sock" } } }],
    [bootstrap, sink(address("10.0.0.1"))],
    [bootstrap, { node, ...sink({ tcp_cluster_name: "a" }) }],
    // Listeners come later than clusters and their endpoints, and a file is no server.
    [bootstrap, withEds({ ads: {} }, { dynamic_resources: { ...ads, lds_config: byGrpc("eds") } })],
    [
      bootstrap,
      withEds({ path: "/eds.yaml" }, { dynamic_resources: { ads_config: viaGrpc("eds") } }),
    ],
    [bootstrap, withEds({ path_config_source: { path: "/eds.yaml" } }, rtds(byGrpc("eds")))],
    [bootstrap, withEds(byGrpc("static"))],
    [jwt, { local_jwks: { inline_string: '{"keys": [{"kty": "RSA"}]}' } }],
  ])("takes %s %j", (type, json) => {
    expect(envoyRejections(type, json)).toEqual([]);
  });
});
