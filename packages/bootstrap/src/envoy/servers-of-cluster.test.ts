import { XdsError } from "@xdstp/core";
import { describe, expect, it } from "vitest";

import { cluster, endpoint, http2, tls, type Json } from "../../test/envoy-json.ts";
import type { BootstrapServer } from "../index.ts";
import { readEnvoyBootstrap } from "./index.ts";

const type = (name: string): string => `type.googleapis.com/${name}`;

/** Returns the servers of a static cluster. */
function serversOf(more: Json = {}): readonly BootstrapServer[] {
  const { clusters } = readEnvoyBootstrap({
    dynamic_resources: { lds_config: { ads: {} }, ads_config: ads },
    static_resources: { clusters: [cluster("good"), cluster("c", more)] },
  });
  return clusters("c") ?? [];
}

const ads = {
  api_type: "GRPC",
  transport_api_version: "V3",
  grpc_services: [{ envoy_grpc: { cluster_name: "good" } }],
};
const credentialsOf = (common: Json, more: Json = {}) =>
  serversOf(tls(common, more))[0]?.credentials;
const assigned = (...localities: readonly Json[]): Json => ({
  load_assignment: { cluster_name: "c", endpoints: localities },
});

function problemOf(more: Json): string {
  try {
    return JSON.stringify(serversOf(more));
  } catch (error) {
    if (error instanceof XdsError) return error.message;
    throw error;
  }
}

describe("static clusters", () => {
  it.each<[string, Json, readonly string[]]>([
    ["a name", {}, ["xds.example:443"]],
    [
      "an address",
      { type: "STATIC", ...assigned({ lb_endpoints: [endpoint("10.0.0.1", 80)] }) },
      ["10.0.0.1:80"],
    ],
    [
      "no type, which is STATIC",
      { type: undefined, ...assigned({ lb_endpoints: [endpoint("10.0.0.1", 80)] }) },
      ["10.0.0.1:80"],
    ],
    ["an address of IPv6", assigned({ lb_endpoints: [endpoint("::1", 80)] }), ["[::1]:80"]],
    [
      "a socket in the file system",
      assigned({ lb_endpoints: [{ endpoint: { address: { pipe: { path: "/run/xds.sock" } } } }] }),
      ["unix:/run/xds.sock"],
    ],
    [
      "addresses by priority",
      assigned(
        { priority: 1, lb_endpoints: [endpoint("c", 1)] },
        { lb_endpoints: [endpoint("a", 1), endpoint("b", 1)] },
      ),
      ["a:1", "b:1", "c:1"],
    ],
    [
      "those that are not away",
      assigned({
        lb_endpoints: [{ ...endpoint("a", 1), health_status: "DRAINING" }, endpoint("b", 1)],
      }),
      ["b:1"],
    ],
  ])("lead to servers by %s", (_, more, uris) => {
    expect(serversOf(more).map(({ uri }) => uri)).toEqual(uris);
  });

  it.each<[string, Json]>([
    ["as it is written now", { typed_extension_protocol_options: http2 }],
    ["as it was written", { typed_extension_protocol_options: {}, http2_protocol_options: {} }],
    [
      "by ALPN",
      {
        typed_extension_protocol_options: {
          "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
            "@type": type("envoy.extensions.upstreams.http.v3.HttpProtocolOptions"),
            auto_config: {},
          },
        },
      },
    ],
  ])("speak HTTP/2 %s", (_, more) => {
    expect(serversOf(more)).toHaveLength(1);
  });

  it("need no HTTP/2 for REST, whatever they were read for before [S-REST-1]", () => {
    const { clusters } = readEnvoyBootstrap({
      dynamic_resources: { ads_config: ads },
      static_resources: {
        clusters: [cluster("good"), cluster("c", { typed_extension_protocol_options: {} })],
      },
    });
    for (const use of ["grpc", undefined] as const) {
      expect(clusters("c", "rest")?.map(({ uri }) => uri)).toEqual(["xds.example:443"]);
      expect(() => clusters("c", use)).toThrow("does not speak HTTP/2, which gRPC needs");
    }
  });

  const ca = { trusted_ca: { filename: "ca" } };
  const own = { certificate_chain: { filename: "cert" }, private_key: { filename: "key" } };
  it.each<[string, Json, Json, object]>([
    ["what Node trusts", {}, {}, {}],
    ["a CA", { validation_context: ca }, {}, { caCertificateFile: "ca" }],
    [
      "a certificate of its own",
      { tls_certificates: [own] },
      {},
      { certificateFile: "cert", privateKeyFile: "key" },
    ],
    ["an SNI", {}, { sni: "other.example" }, { servername: "other.example" }],
    ["the SNI that is the address", {}, { sni: "xds.example" }, {}],
    [
      "the name that it is asked for anyway",
      {
        validation_context: {
          ...ca,
          match_typed_subject_alt_names: [
            { san_type: "URI", matcher: { exact: "spiffe://a" } },
            { san_type: "DNS", matcher: { exact: "xds.example" } },
          ],
        },
      },
      {},
      { caCertificateFile: "ca" },
    ],
    [
      "the name of the SNI",
      {
        validation_context: {
          match_typed_subject_alt_names: [{ san_type: "DNS", matcher: { exact: "b" } }],
        },
      },
      { sni: "b" },
      { servername: "b" },
    ],
  ])("have TLS with %s", (_, common, more, expected) => {
    expect(credentialsOf(common, more)).toEqual({
      type: "tls",
      refreshIntervalMs: 600_000,
      ...expected,
    });
  });

  it("take an IP address as the name of a certificate, and none as SNI", () => {
    const matchers = [{ san_type: "IP_ADDRESS", matcher: { exact: "10.0.0.1" } }];
    const [server] = serversOf({
      ...assigned({ lb_endpoints: [endpoint("10.0.0.1", 1)] }),
      ...tls({ validation_context: { match_typed_subject_alt_names: matchers } }),
    });
    expect(server?.credentials).toEqual({ type: "tls", refreshIntervalMs: 600_000 });
  });

  it.each([
    { name: "envoy.transport_sockets.raw_buffer" },
    {
      name: "raw",
      typed_config: { "@type": type("envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer") },
    },
  ])("have no TLS with %j", (transport_socket) => {
    expect(serversOf({ transport_socket })[0]?.credentials).toEqual({ type: "insecure" });
  });

  const at = "static_resources.clusters[1]";
  const context = `${at}.transport_socket.typed_config.common_tls_context`;
  const validated = (more: Json): Json => tls({ validation_context: more });
  it.each<[Json, string]>([
    [{ type: "EDS" }, `UNIMPLEMENTED] bootstrap: ${at}.type has no addresses in the bootstrap`],
    [
      { type: undefined, cluster_type: { name: "envoy.clusters.aggregate" } },
      `UNIMPLEMENTED] bootstrap: ${at}.cluster_type has no addresses`,
    ],
    [
      { typed_extension_protocol_options: {} },
      `INVALID_ARGUMENT] bootstrap: ${at} does not speak HTTP/2, which gRPC needs; add`,
    ],
    [
      {
        typed_extension_protocol_options: {
          "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
            "@type": type("envoy.extensions.upstreams.http.v3.HttpProtocolOptions"),
            explicit_http_config: { http_protocol_options: {} },
          },
        },
      },
      `INVALID_ARGUMENT] bootstrap: ${at} does not speak HTTP/2`,
    ],
    [assigned(), `INVALID_ARGUMENT] bootstrap: ${at} has no address; give`],
    [{ load_assignment: undefined }, `INVALID_ARGUMENT] bootstrap: ${at} has no address; give`],
    [
      assigned({ lb_endpoints: [{ endpoint_name: "e" }] }),
      `UNIMPLEMENTED] bootstrap: ${at}.load_assignment.endpoints[0].lb_endpoints[0] has no endpoint with an address`,
    ],
    [
      assigned({ lb_endpoints: [endpoint("a", 1), { endpoint: {} }] }),
      `UNIMPLEMENTED] bootstrap: ${at}.load_assignment.endpoints[0].lb_endpoints[1].endpoint.address is none that can be connected to; give`,
    ],
    [
      assigned({
        lb_endpoints: [
          { endpoint: { address: { socket_address: { address: "a", named_port: "http" } } } },
        ],
      }),
      `INVALID_ARGUMENT] bootstrap: ${at}.load_assignment.endpoints[0].lb_endpoints[0].endpoint.address.socket_address has no port_value; give`,
    ],
    [
      assigned({ lb_endpoints: [endpoint("", 1)] }),
      "endpoint.address.socket_address has no address",
    ],
    [
      { transport_socket: { name: "envoy.transport_sockets.tls" } },
      `UNIMPLEMENTED] bootstrap: ${at}.transport_socket.typed_config is missing; give an UpstreamTlsContext`,
    ],
    [
      {
        transport_socket: {
          name: "alts",
          typed_config: {
            "@type": type("envoy.extensions.transport_sockets.alts.v3.Alts"),
            handshaker_service: "s",
          },
        },
      },
      `UNIMPLEMENTED] bootstrap: ${at}.transport_socket.typed_config is type.googleapis.com/envoy.extensions.transport_sockets.alts.v3.Alts; give`,
    ],
    [
      { transport_socket_matches: [{ name: "m" }] },
      `UNIMPLEMENTED] bootstrap: ${at}.transport_socket_matches cannot be matched here`,
    ],
    [
      tls({ tls_certificate_sds_secret_configs: [{ name: "s" }] }),
      `UNIMPLEMENTED] bootstrap: ${context}.tls_certificate_sds_secret_configs needs a source of secrets; give`,
    ],
    [
      tls({ tls_certificate_provider_instance: { instance_name: "p" } }),
      `UNIMPLEMENTED] bootstrap: ${context}.tls_certificate_provider_instance needs a provider`,
    ],
    [
      tls({ validation_context_sds_secret_config: { name: "s" } }),
      `UNIMPLEMENTED] bootstrap: ${context} takes what servers are checked with from elsewhere; give`,
    ],
    [
      tls({ tls_certificates: [own, own] }),
      `INVALID_ARGUMENT] bootstrap: ${context}.tls_certificates has several certificates`,
    ],
    [
      tls({ tls_certificates: [{ certificate_chain: { filename: "cert" } }] }),
      `INVALID_ARGUMENT] bootstrap: ${context}.tls_certificates[0] has a certificate and no key; give both`,
    ],
    [
      validated({ trusted_ca: { inline_string: "x" } }),
      `UNIMPLEMENTED] bootstrap: ${context}.validation_context.trusted_ca is not a file; give filename`,
    ],
    [
      validated({ verify_certificate_hash: ["00"] }),
      `UNIMPLEMENTED] bootstrap: ${context}.validation_context.verify_certificate_hash cannot be done here`,
    ],
    [
      validated({ crl: { filename: "crl" } }),
      `UNIMPLEMENTED] bootstrap: ${context}.validation_context.crl cannot be done here`,
    ],
    [
      validated({ trust_chain_verification: "ACCEPT_UNTRUSTED" }),
      `UNIMPLEMENTED] bootstrap: ${context}.validation_context.trust_chain_verification cannot be done here`,
    ],
    [
      validated({
        match_typed_subject_alt_names: [{ san_type: "URI", matcher: { exact: "spiffe://a" } }],
      }),
      `UNIMPLEMENTED] bootstrap: ${context}.validation_context.match_typed_subject_alt_names does not name "xds.example"`,
    ],
    [
      { connect_timeout: "soon" },
      `INVALID_ARGUMENT] bootstrap: ${at}.connect_timeout cannot be read`,
    ],
  ])("are rejected with the place, when they are asked for: %j", (more, problem) => {
    expect(problemOf(more)).toContain(problem);
  });

  it("are read when they are asked for only", () => {
    expect(() =>
      readEnvoyBootstrap({
        dynamic_resources: { ads_config: ads },
        static_resources: {
          clusters: [
            cluster("good"),
            {
              name: "other",
              type: "ORIGINAL_DST",
              transport_socket: { name: "x", typed_config: { "@type": "acme/Own" } },
            },
          ],
        },
      }),
    ).not.toThrow();
  });
});
