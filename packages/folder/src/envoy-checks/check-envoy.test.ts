import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { envoyRejections as found } from "../../test/envoy-rejections.ts";

const cluster = "envoy.config.cluster.v3.Cluster";
const listener = "envoy.config.listener.v3.Listener";
const routes = "envoy.config.route.v3.RouteConfiguration";
const format = "envoy.config.core.v3.SubstitutionFormatString";
const pattern = "envoy.type.matcher.v3.RegexMatcher";
const network = "envoy.config.core.v3.CidrRange";
const tls = "envoy.extensions.transport_sockets.tls.v3.TlsParameters";
const source = "envoy.config.core.v3.ConfigSource";
const fileLog = "envoy.extensions.access_loggers.file.v3.FileAccessLog";
const telemetry = "envoy.extensions.access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig";
const successes =
  "envoy.extensions.filters.http.admission_control.v3.AdmissionControl.SuccessCriteria.HttpCriteria";
const filters = "type.googleapis.com/envoy.extensions.filters.network";
const echo = { name: "echo", typed_config: { "@type": `${filters}.echo.v3.Echo` } };
const sni = { name: "sni", typed_config: { "@type": `${filters}.sni_cluster.v3.SniCluster` } };
const address = { socket_address: { address: "::1", port_value: 80 } };
const at = (host: string): JsonObject => ({ socket_address: { address: host, port_value: 53 } });
const cares = (host: string): JsonObject => ({
  name: "dns",
  typed_config: {
    "@type":
      "type.googleapis.com/envoy.extensions.network.dns_resolver.cares.v3.CaresDnsResolverConfig",
    resolvers: [at(host)],
  },
});
const endpoint = (host: string): JsonObject => ({
  endpoint: { address: { socket_address: { address: host, port_value: 80 } } },
});
const assignment = (...hosts: readonly string[]): JsonObject => ({
  endpoints: [{ lb_endpoints: hosts.map(endpoint) }],
});

const namedPort = addressOf({ address: "10.0.0.1", named_port: "http" });
const port = { socket_address: { address: "::1", named_port: "http" } };
const resolver = (name: string, host: string): JsonObject =>
  addressOf({ address: host, port_value: 80, resolver_name: name });
const more = (host: string): JsonObject =>
  addressOf({ address: "::1", port_value: 80 }, [
    { address: { socket_address: { address: host, port_value: 80 } } },
  ]);
const dynamic = "envoy.config.bootstrap.v3.Bootstrap.DynamicResources";
const tunnel = "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.TunnelingConfig";
const cel = "xds.type.matcher.v3.CelMatcher";
const filter = "envoy.extensions.access_loggers.filters.cel.v3.ExpressionFilter";

function addressOf(address: JsonObject, additional: readonly JsonObject[] = []): JsonObject {
  return {
    endpoints: [
      {
        lb_endpoints: [
          {
            endpoint: {
              address: { socket_address: address },
              additional_addresses: [...additional],
            },
          },
        ],
      },
    ],
  };
}

describe("checkEnvoy()", () => {
  it.each<readonly [string, JsonObject, string | undefined]>([
    [cluster, { load_assignment: assignment("10.0.0.1", "::1") }, undefined],
    [cluster, { load_assignment: assignment("10.0.0.1", "web") }, '"web" is not an IP address'],
    [
      cluster,
      { load_assignment: { endpoints: [{ lb_endpoints: [{ endpoint: {} }] }] } },
      "lb_endpoints[0].endpoint: needs an endpoint with an address",
    ],
    [
      cluster,
      { load_assignment: { endpoints: [{ lb_endpoints: [{}] }] } },
      "lb_endpoints[0]: needs an endpoint with an address",
    ],
    [
      cluster,
      {
        type: "STRICT_DNS",
        load_assignment: { endpoints: [{ lb_endpoints: [{ endpoint: {} }] }] },
      },
      undefined,
    ],
    [
      cluster,
      { load_balancing_policy: { policies: [] } },
      "load_balancing_policy: needs at least one of policies",
    ],
    [source, { api_config_source: { api_type: "GRPC", grpc_services: [{}] } }, undefined],
    [
      source,
      { api_config_source: { api_type: "DELTA_GRPC", grpc_services: [{}, {}] } },
      "grpc_services[1]: a source has one gRPC service",
    ],
    [
      source,
      { api_config_source: { grpc_services: [{}] } },
      "grpc_services: are for sources of type GRPC or DELTA_GRPC",
    ],
    [
      fileLog,
      { json_format: { a: { b: "%NO_SUCH%" } } },
      'json_format["a"]["b"]: has the operator',
    ],
    [fileLog, { typed_json_format: { a: ["%PROTOCOL"] } }, "begins no operator"],
    [fileLog, { json_format: { a: "%PROTOCOL%" } }, undefined],
    [telemetry, { body: { string_value: "%NO_SUCH%" } }, "body.string_value: has the operator"],
    [
      telemetry,
      { body: { array_value: { values: [{ string_value: "%NO_SUCH%" }] } } },
      "body.array_value.values[0].string_value: has the operator",
    ],
    [
      telemetry,
      {
        attributes: {
          values: [
            {
              key: "a",
              value: { kvlist_value: { values: [{ key: "b", value: { string_value: "%A" } }] } },
            },
          ],
        },
      },
      "attributes.values[0].value.kvlist_value.values[0].value.string_value: has a",
    ],
    [
      telemetry,
      { attributes: { values: [{ key: "a", value: { int_value: 1 } }] } },
      "attributes.values[0].value: must be a string_value, an array_value or a kvlist_value",
    ],
    [
      telemetry,
      {
        body: { string_value: "%PROTOCOL%" },
        resource_attributes: { values: [{ key: "a", value: { string_value: "100%" } }] },
      },
      undefined,
    ],
    [cluster, { type: "STRICT_DNS", load_assignment: assignment("web") }, undefined],
    [cluster, { type: "LOGICAL_DNS", load_assignment: assignment("a", "b") }, "exactly one"],
    [cluster, { type: "EDS" }, "eds_config"],
    [cluster, { type: "ORIGINAL_DST" }, "needs lb_policy CLUSTER_PROVIDED"],
    [cluster, { type: "ORIGINAL_DST", lb_policy: "CLUSTER_PROVIDED" }, undefined],
    [cluster, { lb_policy: "CLUSTER_PROVIDED" }, "bring their own"],
    [cluster, { lb_policy: "MAGLEV", maglev_lb_config: { table_size: 1000 } }, "prime"],
    [cluster, { maglev_lb_config: { table_size: 1000 } }, undefined],
    [cluster, { cluster_type: { name: "envoy.clusters.no_such" } }, "no typed_config"],
    [cluster, { cluster_type: { name: "of.my.own" } }, undefined],
    [listener, { address, filter_chains: [{ filters: [sni, echo] }] }, undefined],
    [listener, { address, filter_chains: [{ filters: [echo, sni] }] }, '"echo" ends the chain'],
    [listener, { address, filter_chains: [{ filters: [sni] }] }, '"sni" is the last filter'],
    [listener, { address, filter_chains: [{ filters: [{ name: "x" }] }] }, "no typed_config"],
    [listener, { address, filter_chains: [{}, {}] }, "same filter_chain_match"],
    [listener, { address }, "filter_chains"],
    [listener, { filter_chains: [{}] }, "needs an address"],
    [listener, { api_listener: {} }, undefined],
    [cluster, { filters: [echo] }, "network filter of a cluster"],
    [cluster, { load_assignment: namedPort }, "named_port: is not a number"],
    [cluster, { type: "STRICT_DNS", load_assignment: namedPort }, undefined],
    [cluster, { load_assignment: resolver("envoy.ip", "::1") }, undefined],
    [cluster, { type: "STRICT_DNS", load_assignment: resolver("own", "web") }, "asks DNS"],
    [
      cluster,
      { load_assignment: more("web") },
      'additional_addresses[0].address.socket_address.address: "web"',
    ],
    [cluster, { load_assignment: more("::1") }, undefined],
    [listener, { address: port, filter_chains: [{}] }, "named_port: is not a number"],
    [
      dynamic,
      { lds_config: { api_config_source: { grpc_services: [{}] } } },
      "grpc_services: are for sources of type GRPC or DELTA_GRPC",
    ],
    [
      dynamic,
      { lds_config: { api_config_source: { api_type: "GRPC", grpc_services: [{}] } } },
      undefined,
    ],
    [tunnel, { hostname: "%REQ(host)%:443" }, undefined],
    [tunnel, { hostname: "%NO_SUCH%:443" }, "hostname: has the operator %NO_SUCH%"],
    [cel, { expr_match: { cel_expr_string: "true" } }, "has no parsed expression"],
    [cel, { expr_match: { cel_expr_parsed: {} } }, undefined],
    [cel, { expr_match: { checked_expr: {} } }, undefined],
    [filter, { expression: "a.`b-c` == '`' // `" }, undefined],
    [filter, { expression: 'a["`"].`b/c d`.e == 1' }, undefined],
    [filter, { expression: "a.`b-c` ==" }, "see character 9"],
    [filter, { expression: "`a` == 1" }, "is not an expression of CEL"],
    [filter, { expression: "a.`b`()" }, "is not an expression of CEL"],
    [routes, { virtual_hosts: [{ domains: ["a", "b"] }, { domains: ["B"] }] }, '"B" is a domain'],
    [routes, { virtual_hosts: [{ domains: ["a", "*.a"] }, { domains: ["b"] }] }, undefined],
    [format, { text_format: "100%% %REQ(X?:PATH):9% %START_TIME(%s)%" }, undefined],
    [format, { text_format: "100% %PROTOCOL%" }, "begins no operator"],
    [format, { json_format: { a: ["%NO_SUCH%"] } }, "does not know"],
    [format, { text_format: "%NO_SUCH%", formatters: [{ name: "a" }] }, undefined],
    [format, { text_format: "%REQ%" }, "without its argument"],
    [pattern, { regex: "a(?i)b{2,3}\\d+" }, undefined],
    [pattern, { regex: "a(?=b)" }, "is not a pattern of RE2"],
    ["xds.type.matcher.v3.RegexMatcher", { regex: "*.com" }, "is not a pattern of RE2"],
    // Envoy reads a length above that of the address as the whole address.
    [network, { address_prefix: "10.0.0.0", prefix_len: 64 }, undefined],
    [network, { address_prefix: "::", prefix_len: 33 }, undefined],
    [
      "envoy.extensions.http.original_ip_detection.xff.v3.XffTrustedCidrs",
      { cidrs: [{ address_prefix: "10.0.0", prefix_len: 8 }] },
      undefined,
    ],
    [
      cluster,
      { type: "LOGICAL_DNS", load_assignment: assignment("a"), dns_resolvers: [at("dns.example")] },
      'dns_resolvers[0].socket_address.address: "dns.example" is not an IP address, which a resolver of DNS needs',
    ],
    [
      cluster,
      { type: "STRICT_DNS", dns_resolution_config: { resolvers: [at("::1"), at("dns.example")] } },
      'dns_resolution_config.resolvers[1].socket_address.address: "dns.example" is not',
    ],
    [
      cluster,
      { type: "STRICT_DNS", typed_dns_resolver_config: cares("dns.example") },
      'typed_dns_resolver_config.typed_config.resolvers[0].socket_address.address: "dns.example" is',
    ],
    [cluster, { type: "STRICT_DNS", typed_dns_resolver_config: cares("8.8.8.8") }, undefined],
    [cluster, { typed_dns_resolver_config: cares("dns.example") }, undefined],
    ["xds.core.v3.CidrRange", { address_prefix: "10.0.0" }, '"10.0.0" is not an IP address'],
    // Envoy takes a range of successes that is empty, as its own documentation has one.
    [successes, { http_success_status: [{ start: 404, end: 404 }] }, undefined],
    [successes, { http_success_status: [{ start: 405, end: 404 }] }, "405 after the end 404"],
    [successes, { http_success_status: [{ start: 99, end: 200 }] }, "between 100 and 600"],
    [successes, { http_success_status: [{ start: 600, end: 600 }] }, "between 100 and 600"],
    [
      "envoy.config.core.v3.SocketAddress",
      { address: "0.0.0.0", port_value: 80, ipv4_compat: true },
      "ipv4_compat: needs an address of IPv6",
    ],
    [
      "envoy.config.core.v3.SocketAddress",
      { address: "::", port_value: 80, ipv4_compat: true },
      undefined,
    ],
    [
      tls,
      { cipher_suites: ["[ECDHE-RSA-AES128-GCM-SHA256|ECDHE-RSA-CHACHA20-POLY1305]"] },
      undefined,
    ],
    [tls, { cipher_suites: ["AES-NO"], ecdh_curves: ["P-256"] }, '"AES-NO" is not a cipher'],
  ])("%s %j", (type, json, message) => {
    const problems = found(type, json);
    if (message === undefined) expect(problems).toEqual([]);
    else expect(problems).toEqual([expect.stringContaining(message)]);
  });

  it("goes through 20,000 domains, chains and layers in time that grows with their number", () => {
    const many = Array.from({ length: 20_000 }, (_, index) => index);
    const started = performance.now();
    expect(found(routes, { virtual_hosts: many.map((n) => ({ domains: [`d${n}`] })) })).toEqual([]);
    expect(
      found("envoy.config.bootstrap.v3.LayeredRuntime", {
        layers: many.map((n) => ({ name: `l${n}`, static_layer: {} })),
      }),
    ).toEqual([]);
    expect(performance.now() - started).toBeLessThan(5000);
  });

  it("reads a format of 200,000 percent signs once", () => {
    const started = performance.now();
    expect(found(format, { text_format: "%A(".repeat(100_000) })).toHaveLength(1);
    expect(found(format, { text_format: "%%".repeat(100_000) })).toEqual([]);
    expect(performance.now() - started).toBeLessThan(2000);
  });
});
