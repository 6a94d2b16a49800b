import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { GrpcProgram } from "./programs.ts";

/** A mistake in one of the four resources from a listener to a backend, for which gRPC clients reject it. */
export interface GrpcMistake {
  readonly name: string;
  readonly in: "listener" | "route" | "cluster" | "endpoints";
  readonly change: (body: JsonObject) => JsonValue;
  /** Libraries that accept it all the same. */
  readonly acceptedBy?: readonly GrpcProgram[];
}

const type = "type.googleapis.com/envoy.extensions";
const router = {
  name: "router",
  typed_config: { "@type": `${type}.filters.http.router.v3.Router` },
};
const lua = {
  name: "script",
  typed_config: { "@type": `${type}.filters.http.lua.v3.Lua` },
};
const fault = {
  name: "fault",
  typed_config: { "@type": `${type}.filters.http.fault.v3.HTTPFault` },
};

/** The manager of a listener, with other fields. */
function manager(more: JsonObject): GrpcMistake["change"] {
  return (body) => {
    const { api_listener: outer } = body as { api_listener: { api_listener: JsonObject } };
    return { ...body, api_listener: { api_listener: { ...outer.api_listener, ...more } } };
  };
}

function set(more: JsonObject): GrpcMistake["change"] {
  return (body) => ({ ...body, ...more });
}

/** TLS with this context. */
function secured(common_tls_context: JsonObject): GrpcMistake["change"] {
  return set({
    transport_socket: {
      name: "envoy.transport_sockets.tls",
      typed_config: {
        "@type": `${type}.transport_sockets.tls.v3.UpstreamTlsContext`,
        common_tls_context,
      },
    },
  });
}

/** Routes with one route, which is this. */
function routed(one: JsonObject): GrpcMistake["change"] {
  return set({ virtual_hosts: [{ name: "v", domains: ["*"], routes: [one] }] });
}

/** The locality of the endpoints, and others made of it. */
function localities(
  make: (first: JsonObject & { lb_endpoints: JsonObject[] }) => JsonValue[],
): GrpcMistake["change"] {
  return (body) => {
    const [first] = body.endpoints as (JsonObject & { lb_endpoints: JsonObject[] })[];
    return { ...body, endpoints: first === undefined ? [] : make(first) };
  };
}

const all = { prefix: "/" };

/** The mistakes; each is one for which a check of `@xdstp/folder` has a row. */
export const grpcMistakes: readonly GrpcMistake[] = [
  { name: "a router that is missing", in: "listener", change: manager({ http_filters: [] }) },
  {
    name: "a last filter that is not the router",
    in: "listener",
    change: manager({ http_filters: [fault] }),
  },
  {
    name: "a router that is not the last",
    in: "listener",
    change: manager({ http_filters: [router, fault] }),
  },
  {
    name: "a filter that gRPC does not have",
    in: "listener",
    change: manager({ http_filters: [lua, router] }),
  },
  {
    name: "two filters of one name",
    in: "listener",
    change: manager({ http_filters: [fault, fault, router] }),
  },
  {
    name: "a filter without a name",
    in: "listener",
    change: manager({ http_filters: [{ ...fault, name: "" }, router] }),
  },
  {
    name: "routes from another source",
    in: "listener",
    change: manager({
      rds: { route_config_name: "r", config_source: { path_config_source: { path: "/x" } } },
    }),
  },
  { name: "trusted hops", in: "listener", change: manager({ xff_num_trusted_hops: 1 }) },
  {
    name: "an api_listener that is not a connection manager",
    in: "listener",
    change: (body) => ({ ...body, api_listener: { api_listener: router.typed_config } }),
  },
  {
    name: "neither api_listener nor filter chains",
    in: "listener",
    change: ({ name = "" }) => ({ name }),
  },
  { name: "a route without a match", in: "route", change: routed({ route: { cluster: "c" } }) },
  {
    name: "a match of CONNECT",
    in: "route",
    change: routed({ match: { connect_matcher: {} }, route: { cluster: "c" } }),
  },
  {
    name: "weights that sum to 0",
    in: "route",
    change: routed({
      match: all,
      route: { weighted_clusters: { clusters: [{ name: "c", weight: 0 }] } },
    }),
  },
  {
    name: "retries without a base interval",
    in: "route",
    change: routed({
      match: all,
      route: { cluster: "c", retry_policy: { retry_on: "unavailable", retry_back_off: {} } },
    }),
  },
  {
    name: "0 retries",
    in: "route",
    change: routed({
      match: all,
      route: { cluster: "c", retry_policy: { retry_on: "unavailable", num_retries: 0 } },
    }),
  },
  {
    name: "a type of cluster that gRPC does not have",
    in: "cluster",
    change: set({ type: "STRICT_DNS" }),
  },
  {
    name: "endpoints from another source",
    in: "cluster",
    change: set({ eds_cluster_config: { eds_config: { path_config_source: { path: "/x" } } } }),
  },
  {
    name: "an xdstp name without service_name",
    in: "cluster",
    change: (body) => ({ ...body, eds_cluster_config: {} }),
  },
  { name: "a policy that gRPC does not have", in: "cluster", change: set({ lb_policy: "MAGLEV" }) },
  {
    name: "a hash function that gRPC does not have",
    in: "cluster",
    change: set({
      lb_policy: "RING_HASH",
      ring_hash_lb_config: { hash_function: "MURMUR_HASH_2" },
    }),
  },
  {
    name: "a ring above the most",
    in: "cluster",
    acceptedBy: ["grpc-go"],
    change: set({ lb_policy: "RING_HASH", ring_hash_lb_config: { maximum_ring_size: "8388609" } }),
  },
  {
    name: "a ring smaller than its minimum",
    in: "cluster",
    acceptedBy: ["grpc-go"],
    change: set({
      lb_policy: "RING_HASH",
      ring_hash_lb_config: { minimum_ring_size: "2048", maximum_ring_size: "1024" },
    }),
  },
  {
    name: "DNS without an endpoint",
    in: "cluster",
    change: set({ type: "LOGICAL_DNS", load_assignment: { cluster_name: "c" } }),
  },
  {
    name: "a transport socket that gRPC does not have",
    in: "cluster",
    change: set({
      transport_socket: {
        name: "raw",
        typed_config: { "@type": `${type}.transport_sockets.raw_buffer.v3.RawBuffer` },
      },
    }),
  },
  {
    name: "TLS with an authority in a file",
    in: "cluster",
    change: secured({ validation_context: { trusted_ca: { filename: "/ca.pem" } } }),
  },
  {
    name: "TLS without an authority",
    in: "cluster",
    change: secured({}),
  },
  {
    name: "TLS with an authority from SDS",
    in: "cluster",
    change: secured({ validation_context_sds_secret_config: { name: "ca" } }),
  },
  ...["maglev.v3.Maglev", "random.v3.Random", "subset.v3.Subset"].map((name): GrpcMistake => ({
    name: `only ${name} to balance the load`,
    in: "cluster",
    change: set({
      load_balancing_policy: {
        policies: [
          {
            typed_extension_config: {
              name: "policy",
              typed_config: { "@type": `${type}.load_balancing_policies.${name}` },
            },
          },
        ],
      },
    }),
  })),
  {
    name: "a percentage above 100",
    in: "cluster",
    change: set({ outlier_detection: { max_ejection_percent: 101 } }),
  },
  {
    name: "a negative interval",
    in: "cluster",
    change: set({ outlier_detection: { interval: "-1s" } }),
  },
  {
    name: "load reports to another server",
    in: "cluster",
    change: set({ lrs_server: { ads: {} } }),
  },
  {
    name: "a locality that is missing",
    in: "endpoints",
    change: localities(({ locality, ...rest }) => (locality === undefined ? [] : [rest])),
  },
  {
    name: "a locality twice",
    in: "endpoints",
    change: localities((one) => [one, { ...one, lb_endpoints: [] }]),
  },
  {
    name: "a priority that is skipped",
    in: "endpoints",
    change: localities((one) => [{ ...one, priority: 1 }]),
  },
  {
    name: "an endpoint with the weight 0",
    in: "endpoints",
    change: localities((one) => [
      {
        ...one,
        lb_endpoints: one.lb_endpoints.map((endpoint) => ({
          ...endpoint,
          load_balancing_weight: 0,
        })),
      },
    ]),
  },
  {
    name: "an address twice",
    in: "endpoints",
    change: localities((one) => [
      { ...one, lb_endpoints: [...one.lb_endpoints, ...one.lb_endpoints] },
    ]),
  },
  {
    name: "weights above the most",
    in: "endpoints",
    change: localities((one) => [
      { ...one, load_balancing_weight: 4_294_967_295 },
      { ...one, load_balancing_weight: 1, locality: { zone: "other" }, lb_endpoints: [] },
    ]),
  },
];
