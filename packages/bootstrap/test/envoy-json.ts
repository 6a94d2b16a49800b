/** JSON of Envoy's configuration. */
export type Json = Readonly<Record<string, unknown>>;

/** Returns a GrpcService with `google_grpc`. */
export function google(uri: string, more: Json = {}): Json {
  return { google_grpc: { target_uri: uri, stat_prefix: "x", ...more } };
}

/** Returns a GrpcService with `envoy_grpc`. */
export function envoy(cluster: string, more: Json = {}): Json {
  return { envoy_grpc: { cluster_name: cluster, ...more } };
}

/** Returns an ApiConfigSource with some services. */
export function api(services: readonly Json[], more: Json = {}): Json {
  return {
    api_type: "AGGREGATED_DELTA_GRPC",
    transport_api_version: "V3",
    grpc_services: services,
    ...more,
  };
}

/** Returns a ConfigSource with one server, for these authorities. */
export function from(uri: string, authorities: readonly string[] = [], more: Json = {}): Json {
  return {
    api_config_source: api([google(uri)], more),
    resource_api_version: "V3",
    ...(authorities.length > 0 && { authorities: authorities.map((name) => ({ name })) }),
  };
}

const http = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";

/** The options that make a cluster use HTTP/2. */
export const http2: Json = {
  [http]: {
    "@type": `type.googleapis.com/${http}`,
    explicit_http_config: { http2_protocol_options: {} },
  },
};

/** Returns an endpoint. */
export function endpoint(address: string, port: number): Json {
  return { endpoint: { address: { socket_address: { address, port_value: port } } } };
}

/** Returns a static cluster with one address. Members of `more` that are undefined are left out. */
export function cluster(name: string, more: Json = {}): Json {
  const assignment = {
    cluster_name: name,
    endpoints: [{ lb_endpoints: [endpoint("xds.example", 443)] }],
  };
  const all: Json = {
    name,
    type: "STRICT_DNS",
    typed_extension_protocol_options: http2,
    load_assignment: assignment,
    ...more,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** Returns a transport socket with TLS. */
export function tls(common: Json, more: Json = {}): Json {
  const type = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext";
  return {
    transport_socket: {
      name: "envoy.transport_sockets.tls",
      typed_config: { "@type": type, common_tls_context: common, ...more },
    },
  };
}
