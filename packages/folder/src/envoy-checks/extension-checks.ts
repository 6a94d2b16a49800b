import { quote } from "../folder-problem.ts";
import {
  type EnvoyCheck,
  envoyCheck,
  type EnvoyFinding,
  type Extension,
  finding,
  keyStep,
  typeOfExtension,
} from "./envoy-check.ts";

/** A place for extensions. */
interface ExtensionPoint {
  /** The message that has the field, and the field. */
  readonly type: string;
  readonly field: string;
  /** The kind of extension that belongs there, in words for people, with its article. */
  readonly what: string;
  /** The beginnings of the full names of the types that fit. Types of other packages than those of Envoy and protobuf always fit. */
  readonly fitting: readonly string[];
}

/** Types that hold the configuration of another one, and fit everywhere. */
const wrappers: ReadonlySet<string> = new Set([
  "xds.type.v3.TypedStruct",
  "udpa.type.v1.TypedStruct",
  "envoy.extensions.common.matching.v3.ExtensionWithMatcher",
]);

const extensions = "envoy.extensions.";
const upstreamSockets = [
  `${extensions}transport_sockets.alts`,
  `${extensions}transport_sockets.dynamic_modules`,
  `${extensions}transport_sockets.http_11_proxy`,
  `${extensions}transport_sockets.internal_upstream`,
  `${extensions}transport_sockets.quic.v3.QuicUpstreamTransport`,
  `${extensions}transport_sockets.raw_buffer`,
  `${extensions}transport_sockets.starttls.v3.UpstreamStartTlsConfig`,
  `${extensions}transport_sockets.tap`,
  `${extensions}transport_sockets.tcp_stats`,
  `${extensions}transport_sockets.tls.v3.UpstreamTlsContext`,
  `${extensions}transport_sockets.proxy_protocol`,
];
const downstreamSockets = [
  `${extensions}transport_sockets.alts`,
  `${extensions}transport_sockets.dynamic_modules`,
  `${extensions}transport_sockets.quic.v3.QuicDownstreamTransport`,
  `${extensions}transport_sockets.raw_buffer`,
  `${extensions}transport_sockets.starttls.v3.StartTlsConfig`,
  `${extensions}transport_sockets.tap`,
  `${extensions}transport_sockets.tcp_stats`,
  `${extensions}transport_sockets.tls.v3.DownstreamTlsContext`,
];
const accessLogs = [`${extensions}access_loggers.`];
const managerType = `${extensions}filters.network.http_connection_manager.v3.HttpConnectionManager`;

const thriftType = `${extensions}filters.network.thrift_proxy.v3`;

/** The tracers of Envoy 1.40; the API has others that were removed, such as LightStep. */
const tracers = [
  ...["Datadog", "OpenTelemetry", "SkyWalking", "XRay", "Zipkin"].map(
    (name) => `envoy.config.trace.v3.${name}Config`,
  ),
  `${extensions}tracers.`,
];

/** The HTTP filters that Envoy 1.40 has for requests to a cluster. */
const upstreamFilters = [
  "admission_control",
  "ai_protocol_manager",
  "aws_lambda",
  "aws_request_signing",
  "body_size_limit",
  "buffer",
  "composite",
  "compressor",
  "credential_injector",
  "dynamic_modules",
  "ext_proc",
  "header_mutation",
  "lua",
  "rbac",
  "upstream_codec",
  "wasm",
].map((name) => `${extensions}filters.http.${name}.`);

const points: readonly ExtensionPoint[] = [
  point("envoy.config.listener.v3.FilterChain", "filters", "a network filter", [
    `${extensions}filters.network.`,
  ]),
  point("envoy.config.cluster.v3.Cluster", "filters", "a network filter of a cluster", [
    `${extensions}filters.upstream_network.`,
  ]),
  point(managerType, "http_filters", "an HTTP filter", [`${extensions}filters.http.`]),
  point(
    `${extensions}upstreams.http.v3.HttpProtocolOptions`,
    "http_filters",
    "an HTTP filter of a cluster",
    upstreamFilters,
  ),
  point(
    `${extensions}filters.http.router.v3.Router`,
    "upstream_http_filters",
    "an HTTP filter of a cluster",
    upstreamFilters,
  ),
  point("envoy.config.listener.v3.Listener", "listener_filters", "a listener filter", [
    `${extensions}filters.listener.`,
    `${extensions}filters.udp.`,
  ]),
  point(
    "envoy.config.listener.v3.FilterChain",
    "transport_socket",
    "a transport socket of a listener",
    downstreamSockets,
  ),
  point(
    "envoy.config.cluster.v3.Cluster",
    "transport_socket",
    "a transport socket of a cluster",
    upstreamSockets,
  ),
  point(
    "envoy.config.cluster.v3.Cluster.TransportSocketMatch",
    "transport_socket",
    "a transport socket of a cluster",
    upstreamSockets,
  ),
  point(
    `${extensions}transport_sockets.proxy_protocol.v3.ProxyProtocolUpstreamTransport`,
    "transport_socket",
    "a transport socket of a cluster",
    upstreamSockets,
  ),
  point(
    `${extensions}transport_sockets.internal_upstream.v3.InternalUpstreamTransport`,
    "transport_socket",
    "a transport socket of a cluster",
    upstreamSockets,
  ),
  point(`${extensions}transport_sockets.tap.v3.Tap`, "transport_socket", "a transport socket", [
    `${extensions}transport_sockets.`,
  ]),
  point(
    `${extensions}transport_sockets.tcp_stats.v3.Config`,
    "transport_socket",
    "a transport socket",
    [`${extensions}transport_sockets.`],
  ),
  point(managerType, "access_log", "an access log", accessLogs),
  point(
    `${extensions}filters.network.tcp_proxy.v3.TcpProxy`,
    "access_log",
    "an access log",
    accessLogs,
  ),
  point(`${extensions}filters.http.router.v3.Router`, "upstream_log", "an access log", accessLogs),
  point("envoy.config.listener.v3.Listener", "access_log", "an access log", accessLogs),
  point("envoy.config.bootstrap.v3.Admin", "access_log", "an access log", accessLogs),
  point("envoy.config.bootstrap.v3.Bootstrap", "stats_sinks", "a sink of statistics", [
    `${extensions}stat_sinks.`,
    "envoy.config.metrics.v3.",
  ]),
  point(
    "envoy.config.bootstrap.v3.Bootstrap",
    "bootstrap_extensions",
    "an extension of the bootstrap",
    [`${extensions}bootstrap.`, `${extensions}wasm.`, `${extensions}network.socket_interface.`],
  ),
  point("envoy.config.overload.v3.OverloadManager", "resource_monitors", "a resource monitor", [
    `${extensions}resource_monitors.`,
  ]),
  point(
    "envoy.config.cluster.v3.LoadBalancingPolicy.Policy",
    "typed_extension_config",
    "a load balancing policy",
    [`${extensions}load_balancing_policies.`],
  ),
  point("envoy.config.trace.v3.Tracing", "http", "a tracer", tracers),
  point(`${managerType}.Tracing`, "provider", "a tracer", tracers),
  point("envoy.config.route.v3.RetryPolicy", "retry_host_predicate", "a predicate for hosts", [
    `${extensions}retry.host.`,
  ]),
  point("envoy.config.route.v3.RetryPolicy", "retry_priority", "a priority for retries", [
    `${extensions}retry.priority.`,
  ]),
  point(`${thriftType}.ThriftProxy`, "thrift_filters", "a filter of Thrift", [
    "envoy.extensions.filters.network.thrift_proxy.",
  ]),
];

function point(
  type: string,
  field: string,
  what: string,
  fitting: readonly string[],
): ExtensionPoint {
  return { type, field, what, fitting };
}

/** Types of clusters that need no configuration. */
const bareClusters: ReadonlySet<string> = new Set([
  "envoy.cluster.eds",
  "envoy.cluster.static",
  "envoy.cluster.strict_dns",
  "envoy.cluster.logical_dns",
  "envoy.cluster.original_dst",
]);

/** Checks of the choice of extensions. */
export const extensionChecks: readonly EnvoyCheck[] = [
  ...points.map((one) =>
    envoyCheck("wrong-extension", one.type, (message) => misfits(message, one)),
  ),
  envoyCheck("wrong-extension", "envoy.config.core.v3.HealthCheck.CustomHealthCheck", (message) =>
    misfit(message as Extension, [], "a health check", [`${extensions}health_checkers.`]),
  ),
  envoyCheck("wrong-extension", "envoy.config.accesslog.v3.ExtensionFilter", (message) =>
    misfit(message as Extension, [], "a filter of access logs", [
      `${extensions}access_loggers.filters.`,
    ]),
  ),
  envoyCheck("wrong-extension", "envoy.config.cluster.v3.Cluster", clusterType),
  envoyCheck("wrong-extension", "envoy.config.cluster.v3.Cluster", protocolOptions),
];

function* misfits(
  message: object,
  { field, what, fitting }: ExtensionPoint,
): Iterable<EnvoyFinding> {
  const localName = field.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  const value = (message as Readonly<Record<string, unknown>>)[localName];
  if (value === undefined) return;
  const list = Array.isArray(value) ? (value as readonly Extension[]) : [value as Extension];
  for (const [index, one] of list.entries()) {
    const at = Array.isArray(value) ? [field, index] : [field];
    if ((one as { readonly isOptional?: boolean }).isOptional === true) continue;
    yield* misfit(one, at, what, fitting);
  }
}

function* misfit(
  extension: Extension,
  at: readonly (string | number)[],
  what: string,
  fitting: readonly string[],
): Iterable<EnvoyFinding> {
  const type = typeOfExtension(extension);
  if (type === undefined) {
    // A filter of its own discovery, or the API that sets no configuration here.
    const { case: form } = extension.configType ?? { case: undefined };
    if (form !== undefined && form !== "typedConfig") return;
    yield finding(
      at,
      `${quote(extension.name)} has no typed_config`,
      `Envoy finds ${what} by the "@type" of its typed_config`,
    );
    return;
  }
  if (isMisfit(type, fitting))
    yield finding([...at, "typed_config", "@type"], `${type} is not the type of ${what}`);
}

/** Returns true if a type is one of Envoy or of protobuf, and none of those that fit. */
function isMisfit(type: string, fitting: readonly string[]): boolean {
  if (wrappers.has(type)) return false;
  if (type === "" || type.startsWith("google.protobuf.")) return true;
  return type.startsWith("envoy.") && !fitting.some((prefix) => type.startsWith(prefix));
}

interface Cluster {
  readonly clusterDiscoveryType: { readonly case: string | undefined; readonly value?: unknown };
  readonly typedExtensionProtocolOptions: Readonly<Record<string, { readonly typeUrl: string }>>;
}

function* clusterType({ clusterDiscoveryType: type }: Cluster): Iterable<EnvoyFinding> {
  if (type.case !== "clusterType") return;
  const extension = type.value as Extension;
  if (typeOfExtension(extension) === undefined) {
    // Others may be in a build of Envoy that is not ours.
    if (extension.name.startsWith("envoy.") && !bareClusters.has(extension.name))
      yield finding(
        ["cluster_type"],
        `${quote(extension.name)} has no typed_config`,
        'Envoy finds a type of cluster by the "@type" of its typed_config',
      );
    return;
  }
  // The older form of the configuration of Redis.
  if (typeOfExtension(extension) === "google.protobuf.Struct") return;
  yield* misfit(extension, ["cluster_type"], "a type of cluster", [`${extensions}clusters.`]);
}

function* protocolOptions({
  typedExtensionProtocolOptions: options,
}: Cluster): Iterable<EnvoyFinding> {
  yield* misfitsInMap(options, "typed_extension_protocol_options", "a protocol option", [
    `${extensions}upstreams.`,
    `${extensions}filters.network.`,
  ]);
}

/** The types in a map that do not fit into it. */
export function* misfitsInMap(
  map: Readonly<Record<string, { readonly typeUrl: string }>>,
  field: string,
  what: string,
  fitting: readonly string[],
): Iterable<EnvoyFinding> {
  for (const [key, { typeUrl }] of Object.entries(map)) {
    const type = typeUrl.slice(typeUrl.lastIndexOf("/") + 1);
    if (isMisfit(type, fitting))
      yield finding(
        [field, keyStep(key), "@type"],
        type === "" ? "has no @type" : `${type} is not the type of ${what}`,
      );
  }
}

/** The types that fit into a field with this name, in any message: for a configuration that cannot be decoded yet. */
const fittingByField: ReadonlyMap<string, readonly string[]> = new Map(
  [...Map.groupBy(points, ({ field }) => field)].map(([field, all]) => [
    field,
    all.flatMap(({ fitting }) => fitting),
  ]),
);

function socketsBelow(above: string | undefined): readonly string[] {
  switch (above) {
    case "filter_chains":
    case "default_filter_chain":
      return downstreamSockets;
    case "clusters":
    case "transport_socket_matches":
      return upstreamSockets;
    default:
      return [`${extensions}transport_sockets.`];
  }
}

/** Returns true if a type, given by its full name, does not fit into a field with this name. `above` is the field around it. */
export function isForeignType(type: string, field: string, above: string | undefined): boolean {
  if (field === "transport_socket") return isMisfit(type, socketsBelow(above));
  if (field === "typed_per_filter_config")
    return isMisfit(type, [`${extensions}filters.http.`, "envoy.config.route.v3.FilterConfig"]);
  if (field === "typed_extension_protocol_options")
    return isMisfit(type, [`${extensions}upstreams.`, `${extensions}filters.network.`]);
  const fitting = fittingByField.get(field);
  return fitting !== undefined && isMisfit(type, fitting);
}
