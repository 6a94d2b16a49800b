import { anyFromJson, envoyRegistry } from "@xdstp/protos/envoy";
import { describe, expect, it } from "vitest";
import { envoyTypes } from "./envoy-types.ts";
import { referencesOf } from "./references-of.ts";
import { typeUrlOf, typeUrls } from "./type-urls.ts";

type Json = Readonly<Record<string, unknown>>;
type TypeName = keyof typeof typeUrls;

const registry = envoyRegistry();
const encode = (type: TypeName, json: Json): Uint8Array =>
  anyFromJson({ "@type": typeUrls[type], ...json }, registry).value;
/** Each reference as `Type name`, sorted. */
const ofBytes = (type: TypeName, bytes: Uint8Array): readonly string[] =>
  referencesOf(typeUrls[type], bytes)
    .map(({ typeUrl, name }) => `${typeUrl.split(".").at(-1) ?? ""} ${name}`)
    .sort();
const of = (type: TypeName, json: Json): readonly string[] => ofBytes(type, encode(type, json));

const packed = (message: string, json: Json = {}): Json => ({
  "@type": typeUrlOf(message),
  ...json,
});
const extension = (message: string, json: Json = {}): Json => ({
  name: "x",
  typed_config: packed(message, json),
});
const NETWORK = "envoy.extensions.filters.network";
const HTTP = "envoy.extensions.filters.http";
const TLS = "envoy.extensions.transport_sockets.tls.v3";
const manager = (json: Json): Json =>
  extension(`${NETWORK}.http_connection_manager.v3.HttpConnectionManager`, {
    stat_prefix: "x",
    ...json,
  });
const listenerWith = (...filters: readonly Json[]): Json => ({
  name: "l",
  filter_chains: [{ filters }],
});
const ads = { ads: {}, resource_api_version: "V3" };
const rds = (name: string): Json => ({ config_source: ads, route_config_name: name });
const sds = (name: string, sds_config: Json = ads): Json => ({ name, sds_config });
const routes = (...actions: readonly Json[]): Json => ({
  name: "r",
  virtual_hosts: [
    {
      name: "h",
      domains: ["*"],
      routes: actions.map((route) => ({ match: { prefix: "/" }, route })),
    },
  ],
});
const grpc = (cluster_name: string): Json => ({ envoy_grpc: { cluster_name } });
const XDSTP = "xdstp://a/envoy.config.cluster.v3.Cluster/eu%2Fx?b=2&a=1";

interface Row {
  readonly what: string;
  readonly type: TypeName;
  readonly json: Json;
  readonly refers: readonly string[];
}

const listeners: readonly Row[] = [
  {
    what: "the routes of connection managers in all filter chains and in the api_listener, each once",
    type: "listener",
    json: {
      filter_chains: [
        { filters: [manager({ rds: rds("first") })] },
        { filters: [manager({ rds: rds("second") })] },
        { filters: [manager({ rds: rds("first") })] },
      ],
      default_filter_chain: { filters: [manager({ rds: rds("default") })] },
      api_listener: { api_listener: manager({ rds: rds("api") }).typed_config },
    },
    refers: [
      "RouteConfiguration api",
      "RouteConfiguration default",
      "RouteConfiguration first",
      "RouteConfiguration second",
    ],
  },
  {
    what: "inline routes",
    type: "listener",
    json: listenerWith(manager({ route_config: routes({ cluster: "c" }) })),
    refers: ["Cluster c"],
  },
  {
    what: "scoped routes, inline",
    type: "listener",
    json: listenerWith(
      manager({
        scoped_routes: {
          name: "s",
          rds_config_source: ads,
          scoped_route_configurations_list: {
            scoped_route_configurations: [
              { name: "1", route_configuration_name: "by-name" },
              { name: "2", route_configuration: routes({ cluster: "c" }) },
            ],
          },
        },
      }),
    ),
    refers: ["Cluster c", "RouteConfiguration by-name"],
  },
  {
    what: "scoped routes by a glob",
    type: "listener",
    json: listenerWith(
      manager({
        scoped_routes: {
          name: "s",
          scoped_rds: {
            scoped_rds_config_source: ads,
            srds_resources_locator: "xdstp://a/envoy.config.route.v3.ScopedRouteConfiguration/s/*",
          },
        },
      }),
    ),
    refers: [
      "ScopedRouteConfiguration xdstp://a/envoy.config.route.v3.ScopedRouteConfiguration/s/*",
    ],
  },
  {
    what: "tcp_proxy",
    type: "listener",
    json: listenerWith(
      extension(`${NETWORK}.tcp_proxy.v3.TcpProxy`, { stat_prefix: "x", cluster: "c" }),
    ),
    refers: ["Cluster c"],
  },
  {
    what: "tcp_proxy with weights",
    type: "listener",
    json: listenerWith(
      extension(`${NETWORK}.tcp_proxy.v3.TcpProxy`, {
        stat_prefix: "x",
        weighted_clusters: {
          clusters: [
            { name: "a", weight: 1 },
            { name: "b", weight: 1 },
          ],
        },
      }),
    ),
    refers: ["Cluster a", "Cluster b"],
  },
  {
    what: "udp_proxy",
    type: "listener",
    json: {
      listener_filters: [
        extension("envoy.extensions.filters.udp.udp_proxy.v3.UdpProxyConfig", {
          stat_prefix: "x",
          cluster: "c",
        }),
      ],
    },
    refers: ["Cluster c"],
  },
  {
    what: "udp_proxy with a matcher and session filters",
    type: "listener",
    json: {
      listener_filters: [
        extension("envoy.extensions.filters.udp.udp_proxy.v3.UdpProxyConfig", {
          stat_prefix: "x",
          matcher: {
            on_no_match: {
              action: extension("envoy.extensions.filters.udp.udp_proxy.v3.Route", {
                cluster: "c",
              }),
            },
          },
          session_filters: [
            { name: "session", config_discovery: { config_source: ads, type_urls: ["x"] } },
          ],
        }),
      ],
    },
    refers: ["Cluster c", "TypedExtensionConfig session"],
  },
  {
    what: "redis_proxy, thrift_proxy with its own discovery, dubbo_proxy",
    type: "listener",
    json: listenerWith(
      extension(`${NETWORK}.redis_proxy.v3.RedisProxy`, {
        stat_prefix: "x",
        settings: { op_timeout: "1s" },
        prefix_routes: {
          routes: [{ prefix: "a", cluster: "a", request_mirror_policy: [{ cluster: "mirror" }] }],
          catch_all_route: { cluster: "rest" },
        },
      }),
      extension(`${NETWORK}.thrift_proxy.v3.ThriftProxy`, {
        stat_prefix: "x",
        trds: { config_source: ads, route_config_name: "thrift" },
      }),
      extension(`${NETWORK}.dubbo_proxy.v3.DubboProxy`, {
        stat_prefix: "x",
        route_config: [{ name: "d", routes: [{ match: {}, route: { cluster: "dubbo" } }] }],
      }),
    ),
    refers: [
      "Cluster a",
      "Cluster dubbo",
      "Cluster mirror",
      "Cluster rest",
      "RouteConfiguration thrift",
    ],
  },
  {
    what: "secrets of a transport socket",
    type: "listener",
    json: {
      filter_chains: [
        {
          transport_socket: extension(`${TLS}.DownstreamTlsContext`, {
            common_tls_context: {
              tls_certificate_sds_secret_configs: [
                sds("cert"),
                sds("xdstp://a/envoy.extensions.transport_sockets.tls.v3.Secret/c"),
              ],
              combined_validation_context: {
                default_validation_context: {},
                validation_context_sds_secret_config: sds("ca"),
              },
            },
            session_ticket_keys_sds_secret_config: sds("tickets"),
          }),
        },
      ],
    },
    refers: [
      "Secret ca",
      "Secret cert",
      "Secret tickets",
      "Secret xdstp://a/envoy.extensions.transport_sockets.tls.v3.Secret/c",
    ],
  },
  {
    what: "no secret that is static or in a file, no routes in a file",
    type: "listener",
    json: {
      filter_chains: [
        {
          filters: [
            manager({
              rds: {
                config_source: { path_config_source: { path: "/r.yaml" } },
                route_config_name: "r",
              },
            }),
          ],
          transport_socket: extension(`${TLS}.DownstreamTlsContext`, {
            common_tls_context: {
              tls_certificate_sds_secret_configs: [
                { name: "static" },
                sds("file", { path: "/s.yaml" }),
                sds("file", { path_config_source: { path: "/s.yaml" } }),
              ],
            },
          }),
        },
      ],
    },
    refers: [],
  },
  {
    what: "a secret in a QUIC and in a startTLS socket",
    type: "listener",
    json: {
      filter_chains: [
        {
          transport_socket: extension(
            "envoy.extensions.transport_sockets.quic.v3.QuicDownstreamTransport",
            {
              downstream_tls_context: {
                common_tls_context: { tls_certificate_sds_secret_configs: [sds("quic")] },
              },
            },
          ),
        },
        {
          transport_socket: extension(
            "envoy.extensions.transport_sockets.starttls.v3.StartTlsConfig",
            {
              tls_socket_config: {
                common_tls_context: { tls_certificate_sds_secret_configs: [sds("start")] },
              },
            },
          ),
        },
      ],
    },
    refers: ["Secret quic", "Secret start"],
  },
  {
    what: "extension configs by discovery, and what their default needs",
    type: "listener",
    json: {
      listener_filters: [
        { name: "listener-filter", config_discovery: { config_source: ads, type_urls: ["x"] } },
      ],
      filter_chains: [
        {
          filters: [
            {
              name: "filter",
              config_discovery: {
                config_source: ads,
                type_urls: ["x"],
                default_config: packed(`${NETWORK}.tcp_proxy.v3.TcpProxy`, {
                  stat_prefix: "x",
                  cluster: "fallback",
                }),
              },
            },
            manager({
              rds: rds("r"),
              http_filters: [
                { name: "http", config_discovery: { config_source: ads, type_urls: ["x"] } },
                {
                  name: "file",
                  config_discovery: { config_source: { path: "/x.yaml" }, type_urls: ["x"] },
                },
                extension(`${HTTP}.router.v3.Router`),
              ],
            }),
          ],
        },
      ],
    },
    refers: [
      "Cluster fallback",
      "RouteConfiguration r",
      "TypedExtensionConfig filter",
      "TypedExtensionConfig http",
      "TypedExtensionConfig listener-filter",
    ],
  },
  {
    what: "clusters of HTTP filters, access logs and tracing",
    type: "listener",
    json: listenerWith(
      manager({
        rds: rds("r"),
        http_filters: [
          extension(`${HTTP}.ext_authz.v3.ExtAuthz`, { grpc_service: grpc("authz") }),
          extension(`${HTTP}.jwt_authn.v3.JwtAuthentication`, {
            providers: {
              a: {
                remote_jwks: { http_uri: { uri: "https://a/b", cluster: "jwks", timeout: "1s" } },
              },
            },
          }),
          extension(`${HTTP}.oauth2.v3.OAuth2`, {
            config: {
              token_endpoint: { uri: "https://a", cluster: "oauth", timeout: "1s" },
              credentials: { client_id: "x", token_secret: sds("token"), hmac_secret: sds("hmac") },
            },
          }),
          extension(`${HTTP}.health_check.v3.HealthCheck`, {
            pass_through_mode: false,
            cluster_min_healthy_percentages: { watched: { value: 50 } },
          }),
        ],
        access_log: [
          extension("envoy.extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig", {
            common_config: {
              log_name: "x",
              grpc_service: grpc("als"),
              transport_api_version: "V3",
            },
          }),
        ],
        tracing: {
          provider: extension("envoy.config.trace.v3.ZipkinConfig", {
            collector_cluster: "zipkin",
            collector_endpoint: "/x",
          }),
        },
      }),
    ),
    refers: [
      "Cluster als",
      "Cluster authz",
      "Cluster jwks",
      "Cluster oauth",
      "Cluster watched",
      "Cluster zipkin",
      "RouteConfiguration r",
      "Secret hmac",
      "Secret token",
    ],
  },
  {
    what: "nothing",
    type: "listener",
    json: { name: "l", address: { socket_address: { address: "127.0.0.1", port_value: 1 } } },
    refers: [],
  },
];

const routing: readonly Row[] = [
  {
    what: "a cluster, its name as it is spelled",
    type: "routeConfiguration",
    json: routes({ cluster: XDSTP }, { cluster: "b" }),
    refers: ["Cluster b", `Cluster ${XDSTP}`],
  },
  {
    what: "weighted clusters and mirrors",
    type: "routeConfiguration",
    json: routes({
      weighted_clusters: {
        clusters: [
          { name: "a", weight: 1 },
          { name: "b", weight: 1 },
          { cluster_header: "x-cluster", weight: 1 },
        ],
      },
      request_mirror_policies: [{ cluster: "mirror" }],
    }),
    refers: ["Cluster a", "Cluster b", "Cluster mirror"],
  },
  {
    what: "mirrors of the whole and of a host",
    type: "routeConfiguration",
    json: {
      request_mirror_policies: [{ cluster: "all" }],
      virtual_hosts: [
        { name: "h", domains: ["*"], request_mirror_policies: [{ cluster: "host" }] },
      ],
    },
    refers: ["Cluster all", "Cluster host"],
  },
  {
    what: "no header that holds a cluster, no hosts on demand, no redirect",
    type: "routeConfiguration",
    json: { ...routes({ cluster_header: "x-cluster" }), vhds: { config_source: ads } },
    refers: [],
  },
  {
    what: "filters of single routes and weights",
    type: "routeConfiguration",
    json: {
      virtual_hosts: [
        {
          name: "h",
          domains: ["*"],
          routes: [
            {
              match: { prefix: "/" },
              typed_per_filter_config: {
                a: packed(`${HTTP}.ext_proc.v3.ExtProcPerRoute`, {
                  overrides: { grpc_service: grpc("proc") },
                }),
              },
              route: {
                weighted_clusters: {
                  clusters: [
                    {
                      name: "a",
                      weight: 1,
                      typed_per_filter_config: {
                        b: packed(`${HTTP}.ext_proc.v3.ExtProcPerRoute`, {
                          overrides: { grpc_service: grpc("weight") },
                        }),
                      },
                    },
                  ],
                },
              },
            },
          ],
        },
      ],
    },
    refers: ["Cluster a", "Cluster proc", "Cluster weight"],
  },
  {
    what: "routes found by a matcher, and its cluster specifier",
    type: "routeConfiguration",
    json: {
      cluster_specifier_plugins: [
        {
          extension: extension("envoy.extensions.router.cluster_specifiers.lua.v3.LuaConfig", {
            source_code: { inline_string: "x" },
            default_cluster: "lua",
          }),
        },
      ],
      virtual_hosts: [
        {
          name: "h",
          domains: ["*"],
          matcher: {
            matcher_list: {
              matchers: [
                {
                  predicate: {
                    single_predicate: {
                      input: extension("envoy.type.matcher.v3.HttpRequestHeaderMatchInput", {
                        header_name: "x",
                      }),
                      value_match: { exact: "a" },
                    },
                  },
                  on_match: {
                    matcher: {
                      on_no_match: {
                        action: extension("envoy.config.route.v3.Route", {
                          match: { prefix: "/" },
                          route: { cluster: "matched" },
                        }),
                      },
                    },
                  },
                },
              ],
            },
          },
        },
      ],
    },
    refers: ["Cluster lua", "Cluster matched"],
  },
  {
    what: "a virtual host",
    type: "virtualHost",
    json: {
      name: "r/h",
      domains: ["*"],
      routes: [{ match: { prefix: "/" }, route: { cluster: "c" } }],
    },
    refers: ["Cluster c"],
  },
  {
    what: "routes of a scope",
    type: "scopedRouteConfiguration",
    json: { name: "s", route_configuration_name: "r", key: { fragments: [{ string_key: "x" }] } },
    refers: ["RouteConfiguration r"],
  },
  {
    what: "inline routes of a scope",
    type: "scopedRouteConfiguration",
    json: { name: "s", route_configuration: routes({ cluster: "c" }) },
    refers: ["Cluster c"],
  },
];

const clusters: readonly Row[] = [
  {
    what: "its assignment by service name",
    type: "cluster",
    json: { name: "c", type: "EDS", eds_cluster_config: { eds_config: ads, service_name: "s" } },
    refers: ["ClusterLoadAssignment s"],
  },
  {
    what: "its assignment by its own name",
    type: "cluster",
    json: { name: "c", type: "EDS", eds_cluster_config: { eds_config: ads } },
    refers: ["ClusterLoadAssignment c"],
  },
  {
    what: "secrets of its sockets",
    type: "cluster",
    json: {
      name: "c",
      transport_socket: extension(`${TLS}.UpstreamTlsContext`, {
        common_tls_context: { validation_context_sds_secret_config: sds("ca") },
      }),
      transport_socket_matches: [
        {
          name: "m",
          transport_socket: extension(`${TLS}.UpstreamTlsContext`, {
            common_tls_context: { tls_certificate_sds_secret_configs: [sds("cert")] },
          }),
        },
      ],
    },
    refers: ["Secret ca", "Secret cert"],
  },
  {
    what: "the clusters of an aggregate",
    type: "cluster",
    json: {
      name: "c",
      cluster_type: extension("envoy.extensions.clusters.aggregate.v3.ClusterConfig", {
        clusters: ["a", "b"],
      }),
    },
    refers: ["Cluster a", "Cluster b"],
  },
  {
    what: "the collections of its own endpoints",
    type: "cluster",
    json: {
      name: "c",
      load_assignment: {
        cluster_name: "c",
        endpoints: [
          { leds_cluster_locality_config: { leds_config: ads, leds_collection_name: "l" } },
        ],
      },
    },
    refers: ["LbEndpoint l"],
  },
  {
    what: "filters that come by themselves",
    type: "cluster",
    json: {
      name: "c",
      filters: [{ name: "f", config_discovery: { config_source: ads, type_urls: ["x"] } }],
    },
    refers: ["TypedExtensionConfig f"],
  },
  {
    what: "HTTP filters of the upstream",
    type: "cluster",
    json: {
      name: "c",
      typed_extension_protocol_options: {
        "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": packed(
          "envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
          {
            explicit_http_config: { http2_protocol_options: {} },
            http_filters: [
              { name: "up", config_discovery: { config_source: ads, type_urls: ["x"] } },
            ],
          },
        ),
      },
    },
    refers: ["TypedExtensionConfig up"],
  },
  {
    what: "nothing behind a config source",
    type: "cluster",
    json: {
      name: "c",
      lrs_server: { api_config_source: { api_type: "GRPC", grpc_services: [grpc("control")] } },
    },
    refers: [],
  },
  {
    what: "endpoint collections",
    type: "clusterLoadAssignment",
    json: {
      cluster_name: "c",
      endpoints: [
        {
          leds_cluster_locality_config: {
            leds_config: ads,
            leds_collection_name: "xdstp://a/envoy.config.endpoint.v3.LbEndpoint/c/*",
          },
        },
        {
          lb_endpoints: [
            { endpoint: { address: { socket_address: { address: "127.0.0.1", port_value: 1 } } } },
          ],
        },
      ],
    },
    refers: ["LbEndpoint xdstp://a/envoy.config.endpoint.v3.LbEndpoint/c/*"],
  },
];

const parts: readonly Row[] = [
  {
    what: "secrets and clusters of an extension",
    type: "typedExtensionConfig",
    json: extension(`${HTTP}.credential_injector.v3.CredentialInjector`, {
      credential: extension("envoy.extensions.http.injected_credentials.oauth2.v3.OAuth2", {
        token_endpoint: { uri: "https://a", cluster: "idp", timeout: "1s" },
        client_credentials: { client_id: "x", client_secret: sds("s") },
      }),
    }),
    refers: ["Cluster idp", "Secret s"],
  },
  {
    what: "a filter chosen by a match",
    type: "typedExtensionConfig",
    json: extension("envoy.extensions.common.matching.v3.ExtensionWithMatcher", {
      extension_config: extension(`${HTTP}.composite.v3.Composite`),
      xds_matcher: {
        on_no_match: {
          action: extension(`${HTTP}.composite.v3.ExecuteFilterAction`, {
            dynamic_config: {
              name: "dynamic",
              config_discovery: { config_source: ads, type_urls: ["x"] },
            },
          }),
        },
      },
    }),
    refers: ["TypedExtensionConfig dynamic"],
  },
  {
    what: "nothing of an extension that is unknown in detail",
    type: "typedExtensionConfig",
    json: extension("xds.type.v3.TypedStruct", { type_url: "x.y/a.B", value: { cluster: "c" } }),
    refers: [],
  },
  {
    what: "nothing of a secret",
    type: "secret",
    json: { name: "s", generic_secret: { secret: { inline_string: "x" } } },
    refers: [],
  },
  {
    what: "nothing of a runtime layer",
    type: "runtime",
    json: { name: "r", layer: { cluster: "c" } },
    refers: [],
  },
  {
    what: "nothing of an endpoint",
    type: "lbEndpoint",
    json: { endpoint: { address: { envoy_internal_address: { server_listener_name: "l" } } } },
    refers: [],
  },
];

const rows = [...listeners, ...routing, ...clusters, ...parts];

describe("referencesOf()", () => {
  it.each(rows)("gives for $type: $what", ({ type, json, refers }) => {
    expect(of(type, json)).toEqual(refers);
  });

  it("is what the types of Envoy say", () => {
    for (const { type, json, refers } of rows) {
      const described = envoyTypes.find(({ typeUrl }) => typeUrl === typeUrls[type]);
      expect(described?.references?.(encode(type, json)) ?? []).toHaveLength(refers.length);
    }
  });

  it("takes any prefix of a type URL, and knows nothing of other types", () => {
    const bytes = encode("cluster", { name: "c", type: "EDS" });
    expect(referencesOf("example.com/envoy.config.cluster.v3.Cluster", bytes)).toHaveLength(1);
    expect(referencesOf("envoy.config.cluster.v3.Cluster", bytes)).toHaveLength(1);
    expect(referencesOf(typeUrlOf("example.Cluster"), bytes)).toEqual([]);
    expect(referencesOf("", bytes)).toEqual([]);
    expect(referencesOf(typeUrlOf("constructor"), bytes)).toEqual([]);
  });

  it("never throws on bytes that are cut off, and then gives no more than there is", () => {
    for (const { type, json, refers } of rows) {
      const bytes = encode(type, json);
      for (let at = 0; at < bytes.length; at++)
        expect(ofBytes(type, bytes.subarray(0, at)).length).toBeLessThanOrEqual(refers.length);
    }
  });

  it("never throws on bytes that are changed", () => {
    for (const { type, json } of rows) {
      const bytes = encode(type, json);
      for (let at = 0; at < bytes.length; at++) {
        for (const byte of [0x00, 0x0b, 0x7f, 0x80, 0xff])
          expect(ofBytes(type, bytes.with(at, byte)).length).toBeLessThan(20);
      }
    }
  });

  it("reads to a bounded depth", () => {
    const nested = (levels: number): readonly string[] =>
      ofBytes("typedExtensionConfig", nest(levels));
    expect(nested(40)).toEqual(["Cluster deep"]);
    expect(nested(60)).toEqual([]);
    expect(nested(1000)).toEqual([]);
  });

  it("reads hostile bytes in one pass: many names beside one source", () => {
    const names = Buffer.alloc(60_000, Buffer.of(0x1a, 0x00));
    const any = packedBytes(
      `${TLS.replace("tls.v3", "tls")}.cert_selectors.on_demand_secret.v3.Config`,
      names,
    );
    expect(referencesOf(typeUrls.typedExtensionConfig, delimited(2, any))).toEqual([]);
  });

  it("reads a listener of 2,000 filter chains", () => {
    expect(
      of("listener", {
        filter_chains: Array.from({ length: 2000 }, (_, i) => ({
          filters: [manager({ rds: rds(`route-${i}`) })],
        })),
      }),
    ).toHaveLength(2000);
  });

  it("reads 10,000 routes", () => {
    expect(
      of(
        "routeConfiguration",
        routes(...Array.from({ length: 10_000 }, (_, i) => ({ cluster: `c-${i % 500}` }))),
      ),
    ).toHaveLength(500);
  });
});

/** A TypedExtensionConfig in an Any in a TypedExtensionConfig, and so on; innermost a cluster. */
function nest(levels: number): Uint8Array {
  const parts: Buffer[] = [];
  let inner = packedBytes(
    "envoy.extensions.clusters.aggregate.v3.ClusterConfig",
    delimited(1, Buffer.from("deep")),
  );
  for (let i = 0; i < levels; i++)
    inner = packedBytes("envoy.config.core.v3.TypedExtensionConfig", delimited(2, inner));
  parts.push(delimited(2, inner));
  return Buffer.concat(parts);
}

function packedBytes(message: string, value: Buffer): Buffer {
  return Buffer.concat([delimited(1, Buffer.from(typeUrlOf(message))), delimited(2, value)]);
}

function delimited(field: number, value: Buffer): Buffer {
  const head = [field * 8 + 2];
  let rest = value.length;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) head.push((rest % 128) | 0x80);
  return Buffer.concat([Buffer.from([...head, rest]), value]);
}
