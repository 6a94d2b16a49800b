import type { Json, JsonPath, Place } from "./mistake-places.ts";

/** A change of a configuration: values that are set, or removed where the value is undefined; and the places of the fault afterwards. */
export interface Change {
  readonly edits: readonly (readonly [path: JsonPath, value: Json | undefined])[];
  /** Any of these places is a right answer; where a place was removed, that of what held it. */
  readonly faults: readonly JsonPath[];
}

/** A kind of mistake that people make in configurations. */
export interface MistakeKind {
  readonly name: string;
  /** The places where it can be made, by their path as in `static_resources.clusters[].name`. */
  readonly at: RegExp;
  /** undefined: it cannot be made here. */
  readonly change: (place: Place) => Change | undefined;
}

/** Sets the value of a place. */
function to(value: Json | ((place: Place) => Json | undefined)): MistakeKind["change"] {
  return (place) => {
    const made = typeof value === "function" ? value(place) : value;
    return made === undefined ? undefined : { edits: [[place.path, made]], faults: [place.path] };
  };
}

/** Removes a place. */
function gone({ path }: Place): Change {
  return { edits: [[path, undefined]], faults: [path.slice(0, -1)] };
}

/** Sets another field of the object that holds the place. */
function next(
  key: string,
  value: Json | ((place: Place) => Json | undefined),
): MistakeKind["change"] {
  return (place) => {
    const made = typeof value === "function" ? value(place) : value;
    const path = [...place.path.slice(0, -1), key];
    if (made === undefined || (place.parent !== undefined && key in place.parent)) return undefined;
    return { edits: [[path, made]], faults: [path, place.path] };
  };
}

/** Sets a field of the object at the place. */
function inside(key: string, value: Json): MistakeKind["change"] {
  return ({ path }) => ({ edits: [[[...path, key], value]], faults: [[...path, key]] });
}

/** Adds an item to the list at the place. The fault is the item or what is within it, or the earlier item that it repeats. */
function item(
  make: (items: readonly Json[]) => Json | undefined,
  within: JsonPath = [],
): MistakeKind["change"] {
  return ({ path, value }) => {
    const items = Array.isArray(value) ? (value as readonly Json[]) : [];
    const made = make(items);
    if (made === undefined) return undefined;
    return {
      edits: [[[...path, items.length], made]],
      faults: [...items, made].flatMap((_, index) => [
        [...path, index],
        [...path, index, ...within],
      ]),
    };
  };
}

function textOf(value: Json): string {
  return typeof value === "string" ? value : "";
}

function fields(value: Json | undefined): Readonly<Record<string, Json>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, Json>>)
    : {};
}

const cut = (text: string): string => `${text.slice(0, 1)}${text.slice(2)}`;
const filters = /\bhttp_filters$/;
const free =
  /filter_metadata|json_format|static_layer|\bmap\b|context_extensions|claim|args\b|metadata\.|\.value$|default_subset|set_metadata|\bmatch$|record/;
const clustersOf = /^static_resources\.clusters$/;
const type = "type.googleapis.com/envoy.extensions";
const router = {
  name: "router",
  typed_config: { "@type": `${type}.filters.http.router.v3.Router` },
};
const buffer = {
  name: "late",
  typed_config: { "@type": `${type}.filters.http.buffer.v3.Buffer`, max_request_bytes: 1 },
};
const noCluster = "no-such-cluster";
const ownName = "static_resources.clusters[].name";

/** A config source over a cluster. */
function overCluster(name: Json): Json {
  const service = { envoy_grpc: { cluster_name: name } };
  return {
    resource_api_version: "V3",
    api_config_source: {
      api_type: "GRPC",
      transport_api_version: "V3",
      grpc_services: [service],
    },
  };
}

/** The kinds, each a row. Which of them Envoy rejects is asked of Envoy. */
export const mistakeKinds: readonly MistakeKind[] = [
  {
    name: "unknown field",
    at: /[a-z]$/,
    change: (place: Place): Change | undefined =>
      free.test(place.name) || Object.keys(fields(place.value)).length === 0
        ? undefined
        : inside("no_such_field", 1)(place),
  },
  {
    name: "misspelt field",
    at: /[a-z]_[a-z_]+$/,
    change: ({ path, name, key, value }: Place): Change | undefined => {
      if (free.test(name) || /typed_per|protocol_options$/.test(path.slice(0, -1).join(".")))
        return undefined;
      const at = [...path.slice(0, -1), cut(key)];
      return {
        edits: [
          [path, undefined],
          [at, value],
        ],
        faults: [at],
      };
    },
  },
  {
    name: "misspelt enum",
    at: /(?:type|policy|mode|action|version|family|method|source|state|status|op)$/,
    change: to(({ value }) =>
      typeof value === "string" && /^[A-Z][A-Z0-9_]{2,}$/.test(value) ? cut(value) : undefined,
    ),
  },
  {
    name: "object where a scalar is",
    at: /[a-z]$/,
    change: to(({ value, name }) =>
      (typeof value === "string" || typeof value === "number") && !free.test(name)
        ? { a: 1 }
        : undefined,
    ),
  },
  {
    name: "scalar where an object is",
    at: /(?:address|match|route|typed_config|load_assignment|filter_chain_match|retry_policy|tracing|common_tls_context)$/,
    change: to("something"),
  },
  {
    name: "text where a number is",
    at: /[a-z]$/,
    change: to(({ value, name }) =>
      typeof value === "number" && !free.test(name) ? "many" : undefined,
    ),
  },
  {
    name: "text where a boolean is",
    at: /[a-z]$/,
    change: to(({ value, name }) =>
      typeof value === "boolean" && !free.test(name) ? "maybe" : undefined,
    ),
  },
  {
    name: "negative number",
    at: /(?:max_\w+|num_retries|weight|port_value|threshold|_size|_bytes)$/,
    change: to(({ value }) => (typeof value === "number" ? -1 : undefined)),
  },
  { name: "number too large", at: /(?:max_\w+|_bytes|weight)$/, change: to(99_999_999_999) },
  {
    name: "missing required field",
    at: /(?:domains|stat_prefix|cluster_name|route\.cluster|routes\[\]\.match|virtual_hosts\[\]\.name|socket_address\.address|socket_address\.port_value|health_checks\[\]\.(?:timeout|unhealthy_threshold|healthy_threshold)|token_bucket|clusters\[\]\.name|append\.header|header\.key|string_match|regex|hash_policy\[\]\.header\.header_name|common_config|fill_interval|max_tokens|domain|issuer|grpc_service|processing_mode|path)$/,
    change: gone,
  },
  {
    name: "empty name",
    at: /(?:clusters\[\]\.name|stat_prefix|cluster_name|route\.cluster|virtual_hosts\[\]\.name|header\.key|header_name|tag_name)$/,
    change: to(""),
  },
  { name: "two of a oneof: path", at: /match\.prefix$/, change: next("path", "/x") },
  {
    name: "two of a oneof: cluster",
    at: /route\.cluster$/,
    change: next("cluster_header", "x-cluster"),
  },
  { name: "two of a oneof: action", at: /routes\[\]\.route$/, change: next("redirect", {}) },
  {
    name: "two of a oneof: data source",
    at: /\.inline_string$/,
    change: next("filename", "/dev/null"),
  },
  {
    name: "two of a oneof: address",
    at: /\.socket_address$/,
    change: next("pipe", { path: "/x" }),
  },
  { name: "two of a oneof: string match", at: /\.exact$/, change: next("prefix", "x") },
  { name: "two of a oneof: gRPC", at: /\.envoy_grpc$/, change: next("google_grpc", {}) },
  {
    name: "wrong @type",
    at: /http_filters\[\]\.typed_config\.@type$/,
    change: to(`${type}.filters.network.echo.v3.Echo`),
  },
  {
    name: "wrong @type of a network filter",
    at: /\bfilters\[\]\.typed_config\.@type$/,
    change: to(`${type}.filters.http.cors.v3.Cors`),
  },
  {
    name: "wrong @type of a transport socket",
    at: /filter_chains\[\]\.transport_socket\.typed_config\.@type$/,
    change: to(`${type}.transport_sockets.tls.v3.UpstreamTlsContext`),
  },
  {
    name: "wrong @type of an access log",
    at: /access_log\[\]\.typed_config\.@type$/,
    change: to(`${type}.filters.http.cors.v3.Cors`),
  },
  {
    name: "wrong @type of protocol options",
    at: /typed_extension_protocol_options\.[^[]*\.@type$/,
    change: to(`${type}.filters.http.cors.v3.Cors`),
  },
  {
    name: "wrong @type per route",
    at: /typed_per_filter_config\.[^[]*\.@type$/,
    change: to(`${type}.filters.network.echo.v3.Echo`),
  },
  {
    name: "unknown @type",
    at: /\.@type$/,
    change: to(({ value }) => `${textOf(value)}x`),
  },
  {
    name: "@type without its prefix",
    at: /\.@type$/,
    change: to(({ value }) => textOf(value).replace("type.googleapis.com/", "")),
  },
  {
    name: "@type of version 2",
    at: /\.@type$/,
    change: to(({ value }) => textOf(value).replace(".v3.", ".v2.")),
  },
  { name: "missing @type", at: /\.@type$/, change: gone },
  {
    name: "missing typed_config",
    at: /(?:filters\[\]|transport_socket|access_log\[\]|provider)\.typed_config$/,
    change: gone,
  },
  {
    name: "duration without unit",
    at: /(?:timeout|interval|_time|_period|delay|_ttl)$/,
    change: to(({ value }) =>
      typeof value === "string" && /^[\d.]+s$/.test(value) ? value.slice(0, -1) : undefined,
    ),
  },
  {
    name: "duration in words",
    at: /(?:timeout|interval|_time|_period|delay|_ttl)$/,
    change: to(({ value }) =>
      typeof value === "string" && /^[\d.]+s$/.test(value) ? "5 seconds" : undefined,
    ),
  },
  {
    name: "duration in milliseconds",
    at: /(?:timeout|interval|_time|_period|delay)$/,
    change: to(({ value }) =>
      typeof value === "string" && /^[\d.]+s$/.test(value) ? "250ms" : undefined,
    ),
  },
  {
    name: "duration with sec as its unit",
    at: /(?:timeout|interval|_time|_period|delay|_ttl)$/,
    change: to(({ value }) =>
      typeof value === "string" && /^[\d.]+s$/.test(value) ? `${value}ec` : undefined,
    ),
  },
  {
    name: "duration below zero",
    at: /(?:timeout|interval|_time|_period|delay|_ttl|_window|_jitter|_duration)$/,
    change: to(({ value }) =>
      typeof value === "string" && /^[\d.]+s$/.test(value) ? "-1s" : undefined,
    ),
  },
  {
    name: "duration of nothing",
    at: /(?:health_checks\[\]\.(?:timeout|interval)|base_interval|fill_interval|refresh_rate|miss_timeout|connect_timeout)$/,
    change: to(({ value }) => (typeof value === "string" ? "0s" : undefined)),
  },
  {
    name: "percent above 100",
    at: /(?:random_sampling|client_sampling|healthy_panic_threshold|min_weight_percent|budget_percent|max_ejection_percent|sr_threshold\.default_value|sample_aggregate_percentile)(?:\.value)?$/,
    change: to(({ value }) => (typeof value === "number" ? 150 : undefined)),
  },
  {
    name: "address that is not one",
    at: /socket_address\.address$/,
    change: to(({ value, name }) =>
      /^[\d.]+$/.test(textOf(value)) && /listeners|STATIC|admin/.test(name)
        ? "300.1.1.1"
        : undefined,
    ),
  },
  {
    name: "listener on a host name",
    at: /^static_resources\.listeners\[\]\.address\.socket_address\.address$/,
    change: to("edge.example.com"),
  },
  { name: "port above 65535", at: /\.port_value$/, change: to(70_000) },
  { name: "port in words", at: /\.port_value$/, change: to("http") },
  { name: "network with bad prefix", at: /\.address_prefix$/, change: to("10.0.0") },
  { name: "network with bad length", at: /\.prefix_len$/, change: to(129) },
  { name: "network longer than an address of IPv4", at: /\.prefix_len$/, change: to(64) },
  { name: "pattern without its end", at: /\.regex$/, change: to("/u/([a-z+") },
  { name: "pattern that looks ahead", at: /\.regex$/, change: to("(?!x)y") },
  { name: "pattern with a stray star", at: /\.regex$/, change: to("*.example.com") },
  { name: "substitution of no group", at: /\.substitution$/, change: to("/\\7") },
  { name: "header name with a space", at: /(?:header\.key|header_name)$/, change: to("x user\n") },
  { name: "header value with a line end", at: /header\.value$/, change: to("a\r\nb") },
  {
    name: "cluster twice",
    at: clustersOf,
    change: item((items) => items[0]),
  },
  {
    name: "listener twice",
    at: /^static_resources\.listeners$/,
    change: item((items) => items[0]),
  },
  {
    name: "virtual host twice",
    at: /\.virtual_hosts$/,
    change: item((items) => ({ ...fields(items[0]), domains: ["other.example.net"] })),
  },
  {
    name: "domain twice",
    at: /\.domains$/,
    change: item((items) => items[0]),
  },
  {
    name: "domain in two virtual hosts",
    at: /\.virtual_hosts$/,
    change: item((items) => ({ ...fields(items[0]), name: "another" }), ["domains", 0]),
  },
  {
    name: "domain with a star within",
    at: /\.domains\[\]$/,
    change: to("a.*.example.com"),
  },
  {
    name: "two listeners on one address",
    at: /^static_resources\.listeners$/,
    change: item(
      (items) => ({ ...fields(items[0]), name: "another" }),
      ["address", "socket_address", "port_value"],
    ),
  },
  {
    name: "filter chain twice",
    at: /\.filter_chains$/,
    change: item((items) => ({ ...fields(items[0]), name: "another" })),
  },
  {
    name: "cluster of a route missing",
    at: /routes\[\]\.route\.cluster$/,
    change: to(noCluster),
  },
  {
    name: "weighted cluster missing",
    at: /weighted_clusters\.clusters\[\]\.name$/,
    change: to(noCluster),
  },
  {
    name: "mirror cluster missing",
    at: /(?:request_mirror_policies|request_mirror_policy)\[\]\.cluster$/,
    change: to(noCluster),
  },
  {
    name: "cluster of a service missing",
    at: /(?:envoy_grpc\.cluster_name|\.cluster_names\[\]|http_uri\.cluster|server_uri\.cluster|collector_cluster|token_endpoint\.cluster|catch_all_route\.cluster)$/,
    change: to(noCluster),
  },
  {
    name: "cluster that was removed",
    at: clustersOf,
    change: ({ path, value, root }: Place): Change | undefined => {
      const name = Array.isArray(value) ? fields(value[0] as Json).name : undefined;
      if (typeof name !== "string") return undefined;
      const users = root.filter(
        (one) => one.value === name && !one.name.startsWith("static_resources.clusters[].name"),
      );
      return users.length === 0
        ? undefined
        : {
            edits: [[path, (value as readonly Json[]).slice(1)]],
            faults: users.map((one) => one.path),
          };
    },
  },
  { name: "no router at the end", at: filters, change: withoutLast },
  {
    name: "filter after the router",
    at: filters,
    change: item(() => buffer),
  },
  { name: "two routers", at: filters, change: item(() => router) },
  {
    name: "no filters",
    at: filters,
    change: to([]),
  },
  {
    name: "filter unknown",
    at: /\bfilters\[\]\.typed_config\.@type$/,
    change: ({ path }: Place): Change | undefined => {
      const at = path.slice(0, -2);
      return {
        edits: [[at, { name: "envoy.filters.network.no_such" }]],
        faults: [at, [...at, "name"]],
      };
    },
  },
  {
    name: "HTTP filter unknown",
    at: filters,
    change: ({ path, value }: Place): Change | undefined => ({
      edits: [[path, [{ name: "envoy.filters.http.no_such" }, ...(value as readonly Json[])]]],
      faults: [
        [...path, 0],
        [...path, 0, "name"],
      ],
    }),
  },
  {
    name: "transport socket unknown",
    at: /\.transport_socket$/,
    change: to({ name: "envoy.transport_sockets.no_such" }),
  },
  {
    name: "last filter that is not terminal",
    at: /filter_chains\[\]\.filters$/,
    change: to([
      {
        name: "only",
        typed_config: {
          "@type": `${type}.filters.network.connection_limit.v3.ConnectionLimit`,
          stat_prefix: "a",
          max_connections: 1,
        },
      },
    ]),
  },
  {
    name: "filter after a terminal one",
    at: /filter_chains\[\]\.filters$/,
    change: item(() => ({
      name: "late",
      typed_config: { "@type": `${type}.filters.network.echo.v3.Echo` },
    })),
  },
  {
    name: "format operator unknown",
    at: /(?:text_format_source\.inline_string|json_format\.\w+|text_format)$/,
    change: to("%NO_SUCH_THING%"),
  },
  {
    name: "format without its end",
    at: /(?:text_format_source\.inline_string|json_format\.\w+)$/,
    change: to("%REQ(:PATH"),
  },
  {
    name: "format with bad length",
    at: /(?:text_format_source\.inline_string|json_format\.\w+)$/,
    change: to("%REQ(:PATH):many%"),
  },
  { name: "header format unknown", at: /header\.value$/, change: to("%NO_SUCH_THING%") },
  { name: "header format with a stray percent", at: /header\.value$/, change: to("100% sure") },
  {
    name: "file missing",
    at: /\.filename$/,
    change: to("certs/no-such-file.pem"),
  },
  {
    name: "key in the place of a certificate",
    at: /certificate_chain\.filename$/,
    change: to("certs/server.key"),
  },
  {
    name: "key of another certificate",
    at: /private_key\.filename$/,
    change: to("certs/other.key"),
  },
  {
    name: "bad certificate",
    at: /(?:certificate_chain|trusted_ca)$/,
    change: to({
      inline_string: "-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n",
    }),
  },
  { name: "certificate without its key", at: /\.private_key$/, change: gone },
  {
    name: "cipher unknown",
    at: /common_tls_context$/,
    change: ({ path }: Place): Change | undefined =>
      oneEdit([...path, "tls_params"], { cipher_suites: ["NO-SUCH-CIPHER"] }),
  },
  {
    name: "curve unknown",
    at: /common_tls_context$/,
    change: ({ path }: Place): Change | undefined =>
      oneEdit([...path, "tls_params"], { ecdh_curves: ["X0"] }),
  },
  {
    name: "hash of a certificate malformed",
    at: /validation_context$/,
    change: ({ path }: Place): Change | undefined =>
      oneEdit([...path, "verify_certificate_hash"], ["abc"]),
  },
  {
    name: "secret missing",
    at: /(?:sds_secret_configs\[\]|sds_secret_config|token_secret|hmac_secret)$/,
    change: to({ name: "no-such-secret" }),
  },
  {
    name: "EDS over the cluster itself",
    at: /^static_resources\.clusters\[\]\.eds_cluster_config\.eds_config$/,
    change: ({ path, root }: Place): Change | undefined => {
      const own = root.find(({ name, path: [, , index] }) => name === ownName && index === path[2]);
      if (own === undefined) return undefined;
      return {
        edits: [[path, overCluster(own.value)]],
        faults: [
          path,
          [...path, "api_config_source", "grpc_services", 0, "envoy_grpc", "cluster_name"],
        ],
      };
    },
  },
  {
    name: "two services of a config source",
    at: /\.api_config_source\.grpc_services$/,
    change: item((items) => items[0]),
  },
  {
    name: "unknown field of a TypedStruct",
    at: /typed_config\.value$/,
    change: (place: Place): Change | undefined =>
      place.parent === undefined || !("type_url" in place.parent)
        ? undefined
        : inside("no_such_field", 1)(place),
  },
  {
    name: "unknown type of a TypedStruct",
    at: /\.type_url$/,
    change: to(({ value }) => `${textOf(value)}s`),
  },
  {
    name: "function of Lambda by its name only",
    at: /\.arn$/,
    change: to("hello"),
  },
  {
    name: "EDS without eds_config",
    at: /^static_resources\.clusters\[\]$/,
    change: ({ path }: Place): Change | undefined => oneEdit(path, { name: "eds", type: "EDS" }),
  },
  {
    name: "static cluster with a host name",
    at: /^static_resources\.clusters\[\]\.type$/,
    change: (place: Place): Change | undefined => {
      if (place.value !== "STRICT_DNS") return undefined;
      const change = to("STATIC")(place);
      const hosts = place.root.filter(
        ({ path, name }) =>
          path[2] === place.path[2] &&
          name.endsWith(
            "clusters[].load_assignment.endpoints[].lb_endpoints[].endpoint.address.socket_address.address",
          ),
      );
      return change && { ...change, faults: [...change.faults, ...hosts.map(({ path }) => path)] };
    },
  },
  {
    name: "LOGICAL_DNS with two endpoints",
    at: /^static_resources\.clusters\[\]\.type$/,
    change: ({ path, parent }: Place): Change | undefined => {
      const assignment = fields(parent?.load_assignment);
      const [first] = (assignment.endpoints ?? []) as readonly Json[];
      const [endpoint] = (fields(first).lb_endpoints ?? []) as readonly Json[];
      if (endpoint === undefined) return undefined;
      const at = [...path.slice(0, -1), "load_assignment"];
      return {
        edits: [
          [path, "LOGICAL_DNS"],
          [at, { ...assignment, endpoints: [{ lb_endpoints: [endpoint, endpoint] }] }],
        ],
        faults: [
          path,
          at,
          [...at, "endpoints"],
          [...at, "endpoints", 0],
          [...at, "endpoints", 0, "lb_endpoints"],
          [...at, "endpoints", 0, "lb_endpoints", 1],
        ],
      };
    },
  },
  {
    name: "cluster type that needs CLUSTER_PROVIDED",
    at: /^static_resources\.clusters\[\]\.lb_policy$/,
    change: (place: Place): Change | undefined =>
      place.value === "CLUSTER_PROVIDED" ? to("ROUND_ROBIN")(place) : to("CLUSTER_PROVIDED")(place),
  },
  {
    name: "endpoints in a cluster that finds its own",
    at: /^static_resources\.clusters\[\]\.type$/,
    change: (place: Place): Change | undefined =>
      place.value === "EDS" ? undefined : to("ORIGINAL_DST")(place),
  },
  {
    name: "cluster type unknown",
    at: /\.cluster_type\.name$/,
    change: ({ path }: Place): Change | undefined =>
      oneEdit(path.slice(0, -1), { name: "envoy.clusters.no_such" }),
  },
  {
    name: "load balancing policy unknown",
    at: /^static_resources\.clusters\[\]\.connect_timeout$/,
    change: ({ path, parent }: Place): Change | undefined => {
      const at = [...path.slice(0, -1), "load_balancing_policy"];
      const config = { name: "envoy.load_balancing_policies.no_such" };
      if (parent?.load_balancing_policy !== undefined) return undefined;
      return {
        edits: [[at, { policies: [{ typed_extension_config: config }] }]],
        faults: [
          at,
          [...at, "policies", 0],
          [...at, "policies", 0, "typed_extension_config"],
          [...at, "policies", 0, "typed_extension_config", "name"],
        ],
      };
    },
  },
  {
    name: "ring smaller than its minimum",
    at: /^static_resources\.clusters\[\]\.connect_timeout$/,
    change: ({ path }: Place): Change | undefined => ({
      edits: [
        [[...path.slice(0, -1), "lb_policy"], "RING_HASH"],
        [
          [...path.slice(0, -1), "ring_hash_lb_config"],
          { minimum_ring_size: 2048, maximum_ring_size: 1024 },
        ],
      ],
      faults: [
        [...path.slice(0, -1), "ring_hash_lb_config"],
        [...path.slice(0, -1), "ring_hash_lb_config", "minimum_ring_size"],
        [...path.slice(0, -1), "ring_hash_lb_config", "maximum_ring_size"],
      ],
    }),
  },
  {
    name: "table of Maglev that is not prime",
    at: /table_size$/,
    change: to(1000),
  },
  {
    name: "weights that sum to 0",
    at: /weighted_clusters\.clusters$/,
    change: ({ path, value }: Place): Change | undefined => {
      const items = (value as readonly Json[]).map((one) => ({ ...fields(one), weight: 0 }));
      return {
        edits: [[path, items]],
        faults: [
          path.slice(0, -1),
          path,
          ...items.flatMap((_, at) => [
            [...path, at],
            [...path, at, "weight"],
          ]),
        ],
      };
    },
  },
  {
    name: "health check without interval",
    at: /health_checks\[\]\.interval$/,
    change: gone,
  },
  {
    name: "health check of nothing",
    at: /health_checks\[\]\.\w+_health_check$/,
    change: gone,
  },
  {
    name: "status range that is empty",
    at: /(?:expected_statuses|retriable_statuses|http_success_status)\[\]$/,
    change: to({ start: 300, end: 200 }),
  },
  {
    name: "status range outside of HTTP",
    at: /(?:expected_statuses|retriable_statuses)\[\]$/,
    change: to({ start: 99, end: 200 }),
  },
  {
    name: "status that does not exist",
    at: /(?:direct_response\.status|http_status)$/,
    change: to(99),
  },
  {
    name: "Lua that does not parse",
    at: /(?:default_source_code|source_code|\.lua)\.inline_string$/,
    change: to("function envoy_on_request(handle)\n  if true\nend\n"),
  },
  { name: "CEL that does not parse", at: /\.expression$/, change: to("response.code >== 4") },
  {
    name: "keys of JWT that are not JSON",
    at: /local_jwks\.inline_string$/,
    change: to("keys"),
  },
  {
    name: "JWT provider missing",
    at: /provider_name$/,
    change: to("no-such-provider"),
  },
  {
    name: "JWT provider without keys",
    at: /(?:local_jwks|remote_jwks)$/,
    change: gone,
  },
  { name: "layer of runtime twice", at: /\.layers$/, change: item((items) => items[0]) },
  {
    name: "layer of runtime without name",
    at: /\.layers\[\]\.name$/,
    change: gone,
  },
  {
    name: "DNS cache with two settings",
    at: /dns_cache_config\.dns_lookup_family$/,
    change: (place: Place): Change | undefined => {
      if (!place.name.includes("listeners")) return undefined;
      const caches = place.root.filter(({ key }) => key === "dns_cache_config");
      return {
        edits: [[place.path, "V6_ONLY"]],
        faults: [place.path, ...caches.map(({ path }) => path)],
      };
    },
  },
  {
    name: "trigger of an unknown monitor",
    at: /triggers\[\]\.name$/,
    change: to("envoy.resource_monitors.no_such"),
  },
  {
    name: "overload action twice",
    at: /overload_manager\.actions$/,
    change: item((items) => items[0]),
  },
  {
    name: "monitor twice",
    at: /overload_manager\.resource_monitors$/,
    change: item((items) => items[0]),
  },
  {
    name: "overload action unknown",
    at: /overload_manager\.actions\[\]\.name$/,
    change: to("envoy.overload_actions.no_such"),
  },
  {
    name: "thresholds of scaling the wrong way round",
    at: /\.scaling_threshold$/,
    change: to(0.99),
  },
  {
    name: "sink of statistics unknown",
    at: /^stats_sinks\[\]$/,
    change: to({ name: "envoy.stat_sinks.no_such" }),
  },
  {
    name: "extension of the bootstrap unknown",
    at: /^bootstrap_extensions\[\]$/,
    change: to({ name: "envoy.bootstrap.no_such" }),
  },
  {
    name: "node without id",
    at: /^node$/,
    change: gone,
  },
  { name: "id that YAML reads as a boolean", at: /^node\.id$/, change: to(false) },
  {
    name: "listener without address",
    at: /^static_resources\.listeners\[\]\.address$/,
    change: gone,
  },
  {
    name: "listener without filter chains",
    at: /^static_resources\.listeners\[\]\.filter_chains$/,
    change: gone,
  },
  {
    name: "connection manager without routes",
    at: /\.route_config$/,
    change: gone,
  },
  {
    name: "server names without a TLS inspector",
    at: /filter_chains$/,
    change: ({ path, value }: Place): Change | undefined => {
      const [chain] = value as readonly Json[];
      return {
        edits: [
          [path, [{ ...fields(chain), filter_chain_match: { server_names: ["a*.example.com"] } }]],
        ],
        faults: [
          [...path, 0, "filter_chain_match"],
          [...path, 0, "filter_chain_match", "server_names"],
          [...path, 0, "filter_chain_match", "server_names", 0],
        ],
      };
    },
  },
  {
    name: "upgrade twice",
    at: /\.upgrade_configs$/,
    change: item((items) => items[0]),
  },
  {
    name: "path rewritten twice",
    at: /\.prefix_rewrite$/,
    change: next("regex_rewrite", { pattern: { regex: "a" }, substitution: "b" }),
  },
  {
    name: "rewrite and redirect of the path",
    at: /\.host_redirect$/,
    change: ({ path }: Place): Change | undefined => ({
      edits: [
        [[...path.slice(0, -1), "path_redirect"], "/a"],
        [[...path.slice(0, -1), "prefix_rewrite"], "/b"],
      ],
      faults: [
        [...path.slice(0, -1), "path_redirect"],
        [...path.slice(0, -1), "prefix_rewrite"],
        path.slice(0, -1),
      ],
    }),
  },
  {
    name: "HTTP/3 without QUIC",
    at: /\.codec_type$/,
    change: (place: Place): Change | undefined =>
      place.value === "HTTP3" ? undefined : to("HTTP3")(place),
  },
  {
    name: "config of a filter per route for no filter",
    at: /routes\[\]\.match$/,
    change: ({ path }: Place): Change | undefined =>
      oneEdit([...path.slice(0, -1), "typed_per_filter_config"], {
        "envoy.filters.http.no_such": { "@type": "type.googleapis.com/envoy.no.Such" },
      }),
  },
  {
    name: "priority that is skipped",
    at: /lb_endpoints$/,
    change: next("priority", 3),
  },
  {
    name: "priority above 128",
    at: /lb_endpoints$/,
    change: next("priority", 200),
  },
  {
    name: "subset without keys",
    at: /subset_selectors\[\]\.keys$/,
    change: to([]),
  },
  {
    name: "pattern of a template that is bad",
    at: /\.path_template$/,
    change: to("/v1/{id"),
  },
  {
    name: "API version 2",
    at: /(?:transport_api_version|resource_api_version)$/,
    change: to("V2"),
  },
  {
    name: "cluster of a config source without grpc_services",
    at: /\.grpc_services$/,
    change: gone,
  },
  {
    name: "rate limit without descriptors",
    at: /rate_limits\[\]\.actions$/,
    change: to([]),
  },
  {
    name: "filter chains that overlap",
    at: /\.filter_chains\[\]\.filter_chain_match\.server_names$/,
    change: ({ path, value, root }: Place): Change | undefined => {
      const at = path.slice(0, -3);
      const chains = root.find((one) => one.path.join() === at.join())?.value;
      if (!Array.isArray(chains)) return undefined;
      const [name] = value as readonly Json[];
      const chain = fields(chains[Number(path.at(-3))] as Json);
      const match = {
        ...fields(chain.filter_chain_match),
        server_names: ["more.test", name ?? ""],
      };
      const added = [...at, chains.length];
      return {
        edits: [[added, { ...chain, name: "another", filter_chain_match: match }]],
        faults: [
          added,
          [...added, "filter_chain_match"],
          [...added, "filter_chain_match", "server_names"],
        ],
      };
    },
  },
  {
    name: "pseudo header that is set",
    at: /headers_to_add\[\]\.header\.key$/,
    change: to(":path"),
  },
  { name: "host that is set", at: /headers_to_add\[\]\.header\.key$/, change: to("Host") },
  { name: "host that is removed", at: /headers_to_remove\[\]$/, change: to("host") },
  {
    name: "server without a certificate",
    at: /filter_chains\[\]\.transport_socket\..*common_tls_context\.tls_certificates$/,
    change: gone,
  },
  {
    name: "names of a peer without an authority",
    at: /validation_context\.trusted_ca$/,
    change: ({ path }: Place): Change => {
      const names = [...path.slice(0, -1), "match_typed_subject_alt_names"];
      return {
        edits: [
          [path, undefined],
          [names, [{ san_type: "DNS", matcher: { exact: "a.test" } }]],
        ],
        faults: [names, path.slice(0, -1)],
      };
    },
  },
  {
    name: "health check of gRPC without HTTP/2",
    at: /^static_resources\.clusters\[\]\.load_assignment$/,
    change: addHealthCheck({ grpc_health_check: {} }, ["grpc_health_check"]),
  },
  {
    name: "health check whose payload is not hexadecimal",
    at: /^static_resources\.clusters\[\]\.load_assignment$/,
    change: addHealthCheck({ tcp_health_check: { send: { text: "PING" } } }, [
      "tcp_health_check",
      "send",
      "text",
    ]),
  },
  {
    name: "key of protocol options misspelt",
    at: /\.typed_extension_protocol_options$/,
    change: ({ path, value }: Place): Change | undefined => {
      const [key, options] = Object.entries(fields(value))[0] ?? [];
      if (key === undefined || options === undefined) return undefined;
      return {
        edits: [[path, { [cut(key)]: options }]],
        faults: [path, [...path, cut(key)]],
      };
    },
  },
  {
    name: "internal listener without its extension",
    at: /^static_resources\.listeners\[\]\.internal_listener$/,
    change: ({ path }: Place): Change => ({
      edits: [[["bootstrap_extensions"], undefined]],
      faults: [path],
    }),
  },
  ...[
    ["operator with an argument that it does not take", "%PROTOCOL(x)%"],
    ["operator with a length that it does not take", "%START_TIME(%s):3%"],
    ["operator with an empty argument", "%REQ()%"],
    ["operator with a bad option", "%PATH(FULL)%"],
    ["operator with a bad expression", "%CEL(request.path ==)%"],
  ].map(([name = "", text = ""]) => ({
    name,
    at: /(?:text_format_source\.inline_string|json_format\.\w+|header\.value)$/,
    change: to(text),
  })),
  ...[
    ["curve by another name", { ecdh_curves: ["secp256r1"] }],
    ["cipher that only OpenSSL has", { cipher_suites: ["DHE-RSA-AES128-GCM-SHA256"] }],
    ["cipher of TLS 1.3 alone", { cipher_suites: ["TLS_AES_128_GCM_SHA256"] }],
  ].map(([name, value]) => ({
    name: name as string,
    at: /common_tls_context$/,
    change: ({ path }: Place): Change => oneEdit([...path, "tls_params"], value as Json),
  })),
  {
    name: "body above 4 KB",
    at: /direct_response\.body\.inline_string$/,
    change: to("a".repeat(5000)),
  },
  {
    name: "file of a source missing",
    at: /path_config_source\.path$/,
    change: to("files/no-such-file.yaml"),
  },
  { name: "node without cluster", at: /^node\.cluster$/, change: gone },
  {
    name: "secret twice",
    at: /^static_resources\.secrets$/,
    change: item((items) => items[0], ["name"]),
  },
  {
    name: "protocol that TLS chooses, without TLS",
    at: /HttpProtocolOptions\.explicit_http_config$/,
    change: ({ path }: Place): Change => {
      const at = [...path.slice(0, -1), "auto_config"];
      return {
        edits: [
          [path, undefined],
          [at, {}],
        ],
        faults: [at, path.slice(0, -1)],
      };
    },
  },
  { name: "bytes that are not base64", at: /\.inline_bytes$/, change: to("!not base64!") },
  {
    name: "configuration of a filter itself on a route",
    at: /\.routes\[\]\.(?:route|direct_response)$/,
    change: addField(
      "typed_per_filter_config",
      { buffer: { "@type": `${type}.filters.http.buffer.v3.Buffer`, max_request_bytes: 1 } },
      ["buffer", "@type"],
    ),
  },
  {
    name: "configuration on a route of a filter that has none",
    at: /\.virtual_hosts\[\]\.domains$/,
    change: addField(
      "typed_per_filter_config",
      { web: { "@type": `${type}.filters.http.grpc_web.v3.GrpcWeb` } },
      ["web", "@type"],
    ),
  },
  {
    name: "network filter of a listener on a cluster",
    at: /^static_resources\.clusters\[\]\.load_assignment$/,
    change: addField(
      "filters",
      [{ name: "echo", typed_config: { "@type": `${type}.filters.network.echo.v3.Echo` } }],
      [0, "typed_config", "@type"],
    ),
  },
  ...[
    ["password without a hash", "user:secret"],
    ["password as bcrypt", "user:$2y$05$abcdefghijklmnopqrstuu"],
    ["user without a password", "user"],
  ].map(([name = "", value = ""]) => ({
    name,
    at: /\.users\.inline_string$/,
    change: to(value),
  })),
  { name: "API key twice", at: /\.credentials$/, change: item((items) => items[0], ["key"]) },
  {
    name: "descriptor of a local limit twice",
    at: /local_ratelimit\.descriptors$/,
    change: item((items) => items[0], ["entries"]),
  },
  { name: "filter of IP tags without a tag", at: /\.ip_tags$/, change: gone },
  {
    name: "descriptors of services in no file",
    at: /\.proto_descriptor_bin$/,
    change: ({ path }: Place): Change => {
      const at = [...path.slice(0, -1), "proto_descriptor"];
      return {
        edits: [
          [path, undefined],
          [at, "no-such-file.pb"],
        ],
        faults: [at],
      };
    },
  },
  { name: "pattern that is too large", at: /routes\[\].*\.regex$/, change: to("/u/[a-z]{200}") },
  { name: "template with a variable twice", at: /\.path_template$/, change: to("/{a}/{a}") },
  {
    name: "rewrite with a variable that the template does not have",
    at: /\.path_template_rewrite$/,
    change: to("/x/{no_such}"),
  },
  {
    name: "Zipkin without the version of its collector",
    at: /\.collector_endpoint_version$/,
    change: gone,
  },
  {
    name: "name of a port in a static cluster",
    at: /^static_resources\.clusters\[\]\.load_assignment\.endpoints\[\]\.lb_endpoints\[\]\.endpoint\.address\.socket_address\.port_value$/,
    change: ({ path, root }: Place): Change | undefined => {
      const [, , index] = path;
      const type = root.find(
        ({ path: at }) => at.join() === ["static_resources", "clusters", index, "type"].join(),
      );
      if (type !== undefined && type.value !== "STATIC") return undefined;
      const at = [...path.slice(0, -1), "named_port"];
      return {
        edits: [
          [path, undefined],
          [at, "http"],
        ],
        faults: [at],
      };
    },
  },
  {
    name: "two source addresses of one family",
    at: /^static_resources\.clusters\[\]\.load_assignment$/,
    change: addField(
      "upstream_bind_config",
      {
        source_address: { address: "10.0.0.1", port_value: 0 },
        extra_source_addresses: [{ address: { address: "10.0.0.2", port_value: 0 } }],
      },
      ["extra_source_addresses", 0, "address"],
    ),
  },
  {
    name: "operator of a tunnel unknown",
    at: /\.tunneling_config\.hostname$/,
    change: to("%NO_SUCH%:443"),
  },
  {
    name: "statistics over TCP without a node",
    at: /^static_resources\.clusters$/,
    change: ({ root, value }: Place): Change | undefined => {
      const keys = new Set(root.map(({ path }) => path[0]));
      if (keys.has("node") || keys.has("stats_sinks")) return undefined;
      const [first] = value as readonly Json[];
      const config = {
        "@type": "type.googleapis.com/envoy.config.metrics.v3.StatsdSink",
        tcp_cluster_name: fields(first).name ?? "",
      };
      return {
        edits: [[["stats_sinks"], [{ name: "statsd", typed_config: config }]]],
        faults: [["node"], []],
      };
    },
  },
  {
    name: "statistics over UDP to a host name",
    at: /^stats_sinks\[\].*\.socket_address\.address$/,
    change: to("statsd.example"),
  },
  {
    name: "tag without a value",
    at: /^stats_config\.stats_tags\[\]\.(?:regex|fixed_value)$/,
    change: gone,
  },
  {
    name: "pattern of a tag that does not parse",
    at: /^stats_config\.stats_tags\[\]\.regex$/,
    change: to("^app\\.(?P<name>[a-z]+"),
  },
  {
    name: "setting of HTTP/2 twice",
    at: /\.http2_protocol_options$/,
    change: ({ path }: Place): Change => {
      const at = [...path, "custom_settings_parameters"];
      return {
        edits: [
          [[...path, "hpack_table_size"], 100],
          [at, [{ identifier: 1, value: 200 }]],
        ],
        faults: [at, [...at, 0], [...at, 0, "identifier"]],
      };
    },
  },
  {
    name: "scope in a listener that names its routes",
    at: /scoped_route_configurations\[\]\.route_configuration$/,
    change: ({ path }: Place): Change => {
      const at = [...path.slice(0, -1), "route_configuration_name"];
      return {
        edits: [
          [path, undefined],
          [at, "routes"],
        ],
        faults: [at],
      };
    },
  },
  {
    name: "virtual hosts over ADS without ADS",
    at: /\.route_config\.virtual_hosts$/,
    change: ({ path, root }: Place): Change | undefined =>
      root.some(({ name }) => name === "dynamic_resources")
        ? undefined
        : addField("vhds", { config_source: { ads: {}, resource_api_version: "V3" } }, [
            "config_source",
            "ads",
          ])({ path, root, name: "", key: "", value: null, parent: {} }),
  },
];

/** Adds a field next to the place; the fault is at a place within it, or what holds it. */
function addField(key: string, value: Json, within: JsonPath = []): MistakeKind["change"] {
  return ({ path, parent }) => {
    if (parent === undefined || key in parent) return undefined;
    const at = [...path.slice(0, -1), key];
    return {
      edits: [[at, value]],
      faults: [at, ...within.map((_, index) => [...at, ...within.slice(0, index + 1)])],
    };
  };
}

/** Adds a health check to the cluster of the place; the fault is at a place within it, or what holds it. */
function addHealthCheck(check: Json, within: JsonPath): MistakeKind["change"] {
  const times = { timeout: "1s", interval: "5s", unhealthy_threshold: 2, healthy_threshold: 2 };
  return ({ path, parent }) => {
    if (parent?.health_checks !== undefined) return undefined;
    const at = [...path.slice(0, -1), "health_checks"];
    return {
      edits: [[at, [{ ...times, ...fields(check) }]]],
      faults: within.map((_, index) => [...at, 0, ...within.slice(0, within.length - index)]),
    };
  };
}

function oneEdit(path: JsonPath, value: Json): Change {
  const keys =
    typeof value === "object" && value !== null
      ? Object.entries(value as Record<string, Json>).flatMap(([key, inner]) => [
          [...path, key],
          ...(Array.isArray(inner) ? [[...path, key, 0]] : []),
        ])
      : [];
  return { edits: [[path, value]], faults: [path, ...keys] };
}

function withoutLast({ path, value }: Place): Change | undefined {
  const items = value as readonly Json[];
  if (items.length < 2) return undefined;
  return {
    edits: [[path, items.slice(0, -1)]],
    faults: [path, [...path, items.length - 2]],
  };
}
