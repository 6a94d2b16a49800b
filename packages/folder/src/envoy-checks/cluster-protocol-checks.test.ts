import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { envoyRejections } from "../../test/envoy-rejections.ts";

const cluster = "envoy.config.cluster.v3.Cluster";
const any = "type.googleapis.com/envoy.extensions.";
const key = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
const field = `typed_extension_protocol_options["${key}"]`;

const options = (json: JsonObject, at = key): JsonObject => ({
  typed_extension_protocol_options: {
    [at]: { "@type": `${any}upstreams.http.v3.HttpProtocolOptions`, ...json },
  },
});
const socket = (type: string, name = "a"): JsonObject => ({
  transport_socket: { name, typed_config: { "@type": `${any}transport_sockets.${type}` } },
});
const health = (json: JsonObject): JsonObject => ({ health_checks: [json] });
const http1 = { explicit_http_config: { http_protocol_options: {} } };
const http2 = { explicit_http_config: { http2_protocol_options: {} } };
const http3 = { explicit_http_config: { http3_protocol_options: {} } };
const tls = socket("tls.v3.UpstreamTlsContext");
const quic = "quic.v3.QuicUpstreamTransport";
const proxy = (json: JsonObject = {}): JsonObject => ({
  lb_policy: "CLUSTER_PROVIDED",
  cluster_type: {
    name: "a",
    typed_config: { "@type": `${any}clusters.dynamic_forward_proxy.v3.ClusterConfig`, ...json },
  },
});
const names = (sni: boolean, san: boolean): JsonObject => ({
  upstream_http_protocol_options: { auto_sni: sni, auto_san_validation: san },
});
const needsNames =
  "a dynamic forward proxy needs upstream_http_protocol_options with auto_sni and auto_san_validation";
const grpc = health({ grpc_health_check: {} });

describe("protocols of clusters", () => {
  it.each<readonly [json: JsonObject, problem: string]>([
    [
      options(http2, "envoy.extensions.upstreams.http.v3.HttpProtocolOption"),
      `bad-cluster typed_extension_protocol_options["envoy.extensions.upstreams.http.v3.HttpProtocolOption"]: "envoy.extensions.upstreams.http.v3.HttpProtocolOption" is not the key of ${key}`,
    ],
    [
      options({ auto_config: {} }),
      `bad-cluster ${field}.auto_config: needs a transport socket with TLS, where client and server choose the protocol`,
    ],
    [
      { ...options({ auto_config: {} }), ...socket("raw_buffer.v3.RawBuffer") },
      `bad-cluster ${field}.auto_config: needs a transport socket with TLS, where client and server choose the protocol`,
    ],
    [
      { ...options(http3), ...tls },
      'bad-cluster transport_socket: HTTP/3 needs a transport socket with the name "envoy.transport_sockets.quic"',
    ],
    [
      {
        ...options({ auto_config: { http3_protocol_options: {} } }),
        ...socket(quic, "envoy.transport_sockets.quic"),
      },
      `bad-cluster ${field}.auto_config.http3_protocol_options: needs alternate_protocols_cache_options next to it`,
    ],
    [grpc, "bad-cluster health_checks[0].grpc_health_check: needs a cluster with HTTP/2"],
    [
      { ...grpc, ...options(http1), http2_protocol_options: {} },
      "bad-cluster health_checks[0].grpc_health_check: needs a cluster with HTTP/2",
    ],
    [
      { ...grpc, ...options(http2, "envoy.upstreams.http.http_protocol_options") },
      "bad-cluster health_checks[0].grpc_health_check: needs a cluster with HTTP/2",
    ],
    [{ ...proxy(), ...options(http1) }, `bad-cluster ${field}: ${needsNames}`],
    [
      { ...proxy(), ...options({ ...http1, ...names(true, false) }), ...names(true, true) },
      `bad-cluster ${field}.upstream_http_protocol_options: ${needsNames}`,
    ],
    [
      { ...proxy({ sub_clusters_config: {} }), ...names(false, true) },
      `bad-cluster upstream_http_protocol_options: ${needsNames}`,
    ],
    [
      health({ tcp_health_check: { send: { text: "000" } } }),
      'bad-value health_checks[0].tcp_health_check.send.text: "000" is not bytes in hexadecimal digits',
    ],
    [
      health({ tcp_health_check: { receive: [{ text: "00" }, { text: "0x00" }] } }),
      'bad-value health_checks[0].tcp_health_check.receive[1].text: "0x00" is not bytes in hexadecimal digits',
    ],
    [
      health({ http_health_check: { path: "/", send: { text: "00" } } }),
      "bad-cluster health_checks[0].http_health_check.send: needs the method POST, PUT, PATCH or OPTIONS, which have a body",
    ],
  ])("%j", (json, problem) => {
    expect(envoyRejections(cluster, json)).toEqual([problem]);
  });

  it.each<JsonObject>([
    options(http2),
    options(http2, "envoy.upstreams.http.http_protocol_options"),
    { ...options({ auto_config: {} }), ...tls },
    { ...options(http3), ...socket(quic, "envoy.transport_sockets.quic") },
    proxy(),
    { ...proxy(), http2_protocol_options: {} },
    { ...proxy(), ...options({ ...http2, ...names(true, true) }) },
    { ...proxy(), ...names(true, true) },
    {
      ...proxy({ allow_insecure_cluster_options: true }),
      ...options(http2),
      ...names(false, false),
    },
    { ...proxy(), ...options(http2, "envoy.upstreams.http.http_protocol_options") },
    { ...grpc, ...options(http2) },
    { ...grpc, http2_protocol_options: {} },
    { ...grpc, ...options({ auto_config: {} }), ...tls },
    { ...grpc, ...options({ use_downstream_protocol_config: { http2_protocol_options: {} } }) },
    health({ tcp_health_check: { send: { text: "00fF" }, receive: [{ binary: "YQ==" }] } }),
    health({ http_health_check: { path: "/", method: "POST", send: { text: "00" } } }),
    {
      typed_extension_protocol_options: {
        "envoy.redis_proxy": {
          "@type": `${any}filters.network.redis_proxy.v3.RedisProtocolOptions`,
        },
      },
    },
  ])("takes %j", (json) => {
    expect(envoyRejections(cluster, json)).toEqual([]);
  });
});
