import type { Registry } from "@bufbuild/protobuf";
import { isIP } from "node:net";
import { quote } from "../folder-problem.ts";
import {
  type CheckScene,
  type EnvoyCheck,
  envoyCheck,
  type EnvoyFinding,
  type Extension,
  finding,
  type Oneof,
} from "./envoy-check.ts";
import { addressFaults, type SocketAddress } from "./network-addresses.ts";
import { closestMessage, visitMessages, type VisitedMessage } from "./visit-messages.ts";

/** A generated `Duration`. */
interface Duration {
  readonly seconds: bigint;
  readonly nanos: number;
}

const filters = "envoy.extensions.filters";
const managerType = `${filters}.network.http_connection_manager.v3.HttpConnectionManager`;

/** Checks of settings that need each other, exclude each other or are compared. */
export const settingChecks: readonly EnvoyCheck[] = [
  envoyCheck("bad-route", "envoy.config.route.v3.RetryPolicy.RetryBackOff", backOff),
  envoyCheck("bad-route", "envoy.config.route.v3.WeightedCluster.ClusterWeight", nameOfCluster),
  envoyCheck("bad-route", "envoy.config.route.v3.RouteAction", specifier),
  envoyCheck("bad-listener", "envoy.config.listener.v3.Listener", chainNames),
  envoyCheck("bad-listener", "envoy.config.listener.v3.Listener", chainsOfUdp),
  envoyCheck("bad-listener", managerType, addressOfClient),
  envoyCheck("bad-listener", managerType, portOfHost),
  envoyCheck("bad-listener", `${filters}.http.lua.v3.Lua`, script),
  envoyCheck("bad-listener", `${filters}.http.ext_proc.v3.ExternalProcessor`, service),
  envoyCheck("bad-listener", `${filters}.http.ext_proc.v3.ProcessingMode`, trailersOfStream),
  envoyCheck("bad-listener", `${filters}.http.header_to_metadata.v3.Config.Rule`, metadataRule),
  envoyCheck("bad-listener", `${filters}.http.health_check.v3.HealthCheck`, cacheTime),
  envoyCheck("bad-listener", `${filters}.network.redis_proxy.v3.RedisProxy`, redisRoutes),
  ...["http", "network"].map((kind) =>
    envoyCheck("bad-value", `${filters}.${kind}.local_ratelimit.v3.LocalRateLimit`, fillInterval),
  ),
  envoyCheck("bad-cluster", "envoy.config.cluster.v3.Cluster", providedPolicy),
  envoyCheck("bad-cluster", "envoy.config.core.v3.BindConfig", sourceAddresses),
  envoyCheck("bad-value", "envoy.config.core.v3.Pipe", modeOfPipe),
  envoyCheck("bad-value", "envoy.config.core.v3.Http2ProtocolOptions", http2Settings),
  envoyCheck("bad-value", "envoy.config.trace.v3.ZipkinConfig", zipkinVersion),
  envoyCheck("bad-listener", `${filters}.network.tcp_proxy.v3.TcpProxy.TunnelingConfig`, postPath),
  envoyCheck("bad-listener", managerType, scopedRoutes),
  envoyCheck("bad-route", "envoy.config.route.v3.RouteConfiguration", virtualHostSource),
  envoyCheck("bad-pattern", "envoy.config.metrics.v3.TagSpecifier", tagValue),
  envoyCheck("bad-bootstrap", "envoy.config.bootstrap.v3.Bootstrap.DynamicResources", typeOfAds),
  envoyCheck("bad-bootstrap", "envoy.config.bootstrap.v3.RuntimeLayer", runtimeValues),
];

function nanoseconds({ seconds, nanos }: Duration): bigint {
  return seconds * 1_000_000_000n + BigInt(nanos);
}

function* backOff({
  baseInterval: base,
  maxInterval: most,
}: {
  baseInterval?: Duration;
  maxInterval?: Duration;
}): Iterable<EnvoyFinding> {
  if (base !== undefined && most !== undefined && nanoseconds(most) < nanoseconds(base))
    yield finding(["max_interval"], "must not be less than base_interval");
}

function* nameOfCluster({
  name,
  clusterHeader,
}: {
  name: string;
  clusterHeader: string;
}): Iterable<EnvoyFinding> {
  if (name !== "" && clusterHeader !== "")
    yield finding(["cluster_header"], "cannot be set next to name", "keep one of them");
}

/** Plugins that choose a cluster are those of the route configuration. */
function* specifier(
  { clusterSpecifier: { case: form, value } }: { clusterSpecifier: Oneof },
  { visited }: CheckScene,
): Iterable<EnvoyFinding> {
  if (form !== "clusterSpecifierPlugin") return;
  const routes = closestMessage(visited, "envoy.config.route.v3.RouteConfiguration")?.message
    .message as
    { readonly clusterSpecifierPlugins: readonly { readonly extension?: Extension }[] } | undefined;
  if (routes?.clusterSpecifierPlugins.some(({ extension }) => extension?.name === value) === false)
    yield finding(
      ["cluster_specifier_plugin"],
      `${quote(String(value))} is not one of the cluster_specifier_plugins`,
    );
}

interface Listener {
  readonly address?: { readonly address: Oneof<{ readonly protocol: number }> };
  readonly filterChains: readonly { readonly name: string }[];
  readonly filterChainMatcher?: object;
  readonly udpListenerConfig?: { readonly quicOptions?: object };
}

function* chainNames({ filterChains, filterChainMatcher }: Listener): Iterable<EnvoyFinding> {
  if (filterChainMatcher === undefined) return;
  for (const [index, { name }] of filterChains.entries())
    if (name === "")
      yield finding(["filter_chains", index], "needs a name, which filter_chain_matcher chooses");
}

/** `SocketAddress.Protocol.UDP` */
const udp = 1;

function* chainsOfUdp({
  address,
  filterChains,
  udpListenerConfig,
}: Listener): Iterable<EnvoyFinding> {
  const isUdp =
    address?.address.case === "socketAddress" && address.address.value?.protocol === udp;
  if (isUdp && filterChains.length > 0 && udpListenerConfig?.quicOptions === undefined)
    yield finding(
      ["filter_chains"],
      "are for connections, which a listener of UDP without QUIC does not have",
      "use listener_filters",
    );
}

function* addressOfClient({
  useRemoteAddress,
  originalIpDetectionExtensions,
}: {
  useRemoteAddress?: boolean;
  originalIpDetectionExtensions: readonly object[];
}): Iterable<EnvoyFinding> {
  if (useRemoteAddress === true && originalIpDetectionExtensions.length > 0)
    yield finding(
      ["original_ip_detection_extensions"],
      "cannot be set next to use_remote_address",
      "keep one of them",
    );
}

function* portOfHost({
  stripMatchingHostPort,
  stripPortMode: mode,
}: {
  stripMatchingHostPort: boolean;
  stripPortMode: Oneof;
}): Iterable<EnvoyFinding> {
  if (stripMatchingHostPort && mode.case === "stripAnyHostPort" && mode.value === true)
    yield finding(
      ["strip_matching_host_port"],
      "cannot be set next to strip_any_host_port",
      "keep one of them",
    );
}

function* script({
  inlineCode,
  defaultSourceCode,
}: {
  inlineCode: string;
  defaultSourceCode?: object;
}): Iterable<EnvoyFinding> {
  if (inlineCode !== "" && defaultSourceCode !== undefined)
    yield finding(["inline_code"], "cannot be set next to default_source_code", "keep the latter");
}

function* service({
  grpcService,
  httpService,
}: {
  grpcService?: object;
  httpService?: object;
}): Iterable<EnvoyFinding> {
  if (grpcService !== undefined && httpService !== undefined)
    yield finding(["http_service"], "cannot be set next to grpc_service", "keep one of them");
  if (grpcService === undefined && httpService === undefined)
    yield finding([], "needs grpc_service or http_service");
}

/** `ProcessingMode.BodySendMode.FULL_DUPLEX_STREAMED` */
const fullDuplex = 4;
/** `ProcessingMode.HeaderSendMode.SEND` */
const send = 1;

function* trailersOfStream({
  requestBodyMode,
  requestTrailerMode,
  responseBodyMode,
  responseTrailerMode,
}: {
  requestBodyMode: number;
  requestTrailerMode: number;
  responseBodyMode: number;
  responseTrailerMode: number;
}): Iterable<EnvoyFinding> {
  for (const [side, body, trailer] of [
    ["request", requestBodyMode, requestTrailerMode],
    ["response", responseBodyMode, responseTrailerMode],
  ] as const)
    if (body === fullDuplex && trailer !== send)
      yield finding(
        [`${side}_body_mode`],
        `FULL_DUPLEX_STREAMED needs the trailers too`,
        `set ${side}_trailer_mode to SEND`,
      );
}

function* metadataRule({
  header,
  cookie,
  onHeaderPresent,
  onHeaderMissing,
}: {
  header: string;
  cookie: string;
  onHeaderPresent?: object;
  onHeaderMissing?: object;
}): Iterable<EnvoyFinding> {
  if (header !== "" && cookie !== "")
    yield finding(["cookie"], "cannot be set next to header", "keep one of them");
  else if (header === "" && cookie === "") yield finding([], "needs header or cookie");
  else if (onHeaderPresent === undefined && onHeaderMissing === undefined)
    yield finding([], "needs on_header_present or on_header_missing");
}

function* cacheTime({
  passThroughMode,
  cacheTime: time,
}: {
  passThroughMode?: boolean;
  cacheTime?: Duration;
}): Iterable<EnvoyFinding> {
  if (passThroughMode === false && time !== undefined && nanoseconds(time) > 0n)
    yield finding(["cache_time"], "needs pass_through_mode: true");
}

function* redisRoutes({
  prefixRoutes,
}: {
  prefixRoutes?: {
    readonly caseInsensitive: boolean;
    readonly catchAllRoute?: object;
    readonly routes: readonly { readonly prefix: string }[];
  };
}): Iterable<EnvoyFinding> {
  const { routes = [], catchAllRoute, caseInsensitive = false } = prefixRoutes ?? {};
  if (routes.length === 0 && catchAllRoute === undefined)
    yield finding(
      prefixRoutes === undefined ? [] : ["prefix_routes"],
      "needs a route",
      "add prefix_routes.catch_all_route",
    );
  const seen = new Set<string>();
  for (const [index, { prefix }] of routes.entries()) {
    const key = caseInsensitive ? prefix.toLowerCase() : prefix;
    if (seen.has(key))
      yield finding(
        ["prefix_routes", "routes", index, "prefix"],
        `${quote(prefix)} is the prefix of an earlier route`,
      );
    seen.add(key);
  }
}

const leastFill = 50_000_000n;

interface Limited {
  readonly tokenBucket?: { readonly fillInterval?: Duration };
}

function* fillInterval({
  tokenBucket,
  descriptors = [],
}: Limited & { readonly descriptors?: readonly Limited[] }): Iterable<EnvoyFinding> {
  for (const [at, bucket] of [
    [[], tokenBucket] as const,
    ...descriptors.map((one, index) => [["descriptors", index], one.tokenBucket] as const),
  ]) {
    const { fillInterval: interval } = bucket ?? {};
    if (interval !== undefined && nanoseconds(interval) < leastFill)
      yield finding([...at, "token_bucket", "fill_interval"], "must be at least 0.05s");
  }
}

/** `DiscoveryType.ORIGINAL_DST` */
const originalDst = 4;
/** `LbPolicy.CLUSTER_PROVIDED` */
const clusterProvided = 6;

/** A policy of its own does not replace the old field in this type. */
function* providedPolicy({
  clusterDiscoveryType: { case: form, value: type },
  lbPolicy,
  loadBalancingPolicy,
}: {
  clusterDiscoveryType: Oneof;
  lbPolicy: number;
  loadBalancingPolicy?: object;
}): Iterable<EnvoyFinding> {
  const isOriginal = form === "type" && type === originalDst;
  if (isOriginal && loadBalancingPolicy !== undefined && lbPolicy !== clusterProvided)
    yield finding(
      ["load_balancing_policy"],
      "a cluster of type ORIGINAL_DST needs lb_policy CLUSTER_PROVIDED too",
    );
}

/** The addresses for all clusters, which only those without addresses of their own use. */
function isUnusedBinding({ above }: VisitedMessage): boolean {
  if (above?.message.desc.typeName !== "envoy.config.bootstrap.v3.ClusterManager") return false;
  const { staticResources } = (above.above?.message.message ?? {}) as {
    readonly staticResources?: {
      readonly clusters: readonly { readonly upstreamBindConfig?: object }[];
    };
  };
  return !(staticResources?.clusters ?? []).some(
    ({ upstreamBindConfig }) => upstreamBindConfig === undefined,
  );
}

interface BindConfig {
  readonly sourceAddress?: SocketAddress;
  readonly extraSourceAddresses: readonly { readonly address?: SocketAddress }[];
  readonly additionalSourceAddresses: readonly SocketAddress[];
  readonly localAddressSelector?: object;
}

/** One source address, and one of the other family of IP next to it. */
function* sourceAddresses(
  {
    sourceAddress: source,
    extraSourceAddresses: extra,
    additionalSourceAddresses: additional,
    localAddressSelector: selector,
  }: BindConfig,
  { visited }: CheckScene,
): Iterable<EnvoyFinding> {
  if (isUnusedBinding(visited)) return;
  const others: readonly (readonly [at: EnvoyFinding["at"], address: SocketAddress | undefined])[] =
    [
      ...extra.map(
        (one, index) => [["extra_source_addresses", index, "address"], one.address] as const,
      ),
      ...additional.map((one, index) => [["additional_source_addresses", index], one] as const),
    ];
  if (source !== undefined) yield* addressFaults(source, ["source_address"], "a source address");
  for (const [at, one] of others)
    if (one !== undefined) yield* addressFaults(one, at, "a source address");
  // Another selector than that of Envoy has rules of its own.
  if (selector !== undefined) return;
  const [first, second] = others;
  if (first === undefined) return;
  const family = isIP(first[1]?.address ?? "");
  if (extra.length > 0 && additional.length > 0)
    yield finding(
      ["additional_source_addresses"],
      "cannot be set next to extra_source_addresses",
      "keep the latter",
    );
  else if (source === undefined) yield finding(first[0], "needs source_address");
  else if (second !== undefined)
    yield finding(second[0], "is a second one; there can be one in addition to source_address");
  else if (family !== 0 && family === isIP(source.address))
    yield finding(
      first[0],
      `is an address of IPv${family}, as source_address is`,
      "the two must be one of IPv4 and one of IPv6",
    );
}

/** Sockets whose path begins with "@" are not files. */
function* modeOfPipe({ path, mode }: { path: string; mode: number }): Iterable<EnvoyFinding> {
  if (path.startsWith("@") && mode !== 0)
    yield finding(["mode"], 'cannot be set where the path begins with "@"');
}

/** `ApiType` of the Envoy API: AGGREGATED_GRPC and AGGREGATED_DELTA_GRPC. */
const aggregated: ReadonlySet<number> = new Set([5, 6]);

function* typeOfAds({
  adsConfig,
}: {
  adsConfig?: { readonly apiType: number };
}): Iterable<EnvoyFinding> {
  if (adsConfig !== undefined && aggregated.has(adsConfig.apiType))
    yield finding(["ads_config", "api_type"], "must be GRPC or DELTA_GRPC");
}

/** Values are objects, texts, numbers and booleans. */
function* runtimeValues({
  layerSpecifier: { case: form, value },
}: {
  layerSpecifier: Oneof;
}): Iterable<EnvoyFinding> {
  if (form === "staticLayer") yield* wrongValues(value, ["static_layer"]);
}

function* wrongValues(value: unknown, at: readonly string[]): Iterable<EnvoyFinding> {
  if (value === null || Array.isArray(value))
    yield finding(
      at,
      `is ${value === null ? "null" : "a list"}, which is not a value of the runtime`,
    );
  else if (typeof value === "object")
    for (const [key, one] of Object.entries(value)) yield* wrongValues(one, [...at, `[${key}]`]);
}

/** Settings of HTTP/2 that have a field of their own, by their identifier. */
const http2Fields = [
  [1, "hpackTableSize", "hpack_table_size"],
  [3, "maxConcurrentStreams", "max_concurrent_streams"],
  [4, "initialStreamWindowSize", "initial_stream_window_size"],
] as const;
const enablePush = 2;
const enableConnect = 8;

type Http2Options = Readonly<Partial<Record<(typeof http2Fields)[number][1], number>>> & {
  readonly customSettingsParameters: readonly {
    readonly identifier?: number;
    readonly value?: number;
  }[];
};

function* http2Settings(options: Http2Options): Iterable<EnvoyFinding> {
  const seen = new Map<number, number | undefined>();
  for (const [index, { identifier, value }] of options.customSettingsParameters.entries()) {
    if (identifier === undefined) continue;
    const at = ["custom_settings_parameters", index];
    const [, named, field] = http2Fields.find(([number]) => number === identifier) ?? [];
    if (named !== undefined && options[named] !== undefined)
      yield finding(at, `sets ${field} again`, `keep ${field}`);
    if (identifier === enablePush && value === 1)
      yield finding(at, "enables server push, which Envoy does not have");
    if (identifier === enableConnect)
      yield finding(at, "sets allow_connect", "set the field instead");
    if (seen.has(identifier) && seen.get(identifier) !== value)
      yield finding(at, `sets ${identifier} again, to another value`);
    seen.set(identifier, value);
  }
}

/** Envoy 1.40 rejects a tracer with the first of these values, which is the default. */
function* zipkinVersion(
  {
    collectorEndpointVersion: version,
  }: {
    collectorEndpointVersion: number;
  },
  { visited, registry }: CheckScene,
): Iterable<EnvoyFinding> {
  if (version === 0 && isTracerCreated(visited, registry))
    yield finding(["collector_endpoint_version"], "is required", "write HTTP_JSON or HTTP_PROTO");
}

/** Returns false if the tracer is that of a bootstrap, and no static listener uses it. Envoy creates it for the first connection manager with tracing and without a provider. */
function isTracerCreated(tracer: VisitedMessage, registry: Registry): boolean {
  const bootstrap = closestMessage(tracer, "envoy.config.bootstrap.v3.Bootstrap");
  if (bootstrap === undefined || closestMessage(tracer, managerType) !== undefined) return true;
  return visitMessages(bootstrap, registry).some(({ message: { desc, message } }) => {
    if (desc.typeName !== managerType) return false;
    const { tracing } = message as { readonly tracing?: { readonly provider?: object } };
    return tracing !== undefined && tracing.provider === undefined;
  });
}

function* postPath({
  usePost,
  postPath: path,
}: {
  usePost: boolean;
  postPath: string;
}): Iterable<EnvoyFinding> {
  if (path !== "" && !usePost) yield finding(["post_path"], "needs use_post: true");
}

interface ScopedRoutes {
  readonly configSpecifier: Oneof<{
    readonly scopedRouteConfigurations?: readonly {
      readonly routeConfigurationName: string;
      readonly routeConfiguration?: object;
    }[];
  }>;
}

/** Scopes in a listener have their routes in themselves. */
function* scopedRoutes({
  routeSpecifier,
}: {
  routeSpecifier: Oneof<ScopedRoutes>;
}): Iterable<EnvoyFinding> {
  if (routeSpecifier.case !== "scopedRoutes") return;
  const scopes = routeSpecifier.value?.configSpecifier.value?.scopedRouteConfigurations ?? [];
  const list = ["scoped_routes", "scoped_route_configurations_list"];
  for (const [index, { routeConfigurationName: name, routeConfiguration }] of scopes.entries()) {
    const at = [...list, "scoped_route_configurations", index];
    if (name !== "")
      yield finding(
        [...at, "route_configuration_name"],
        "is for scopes of scoped_rds",
        "set route_configuration instead",
      );
    else if (routeConfiguration === undefined) yield finding(at, "needs route_configuration");
  }
}

/** `ApiType.DELTA_GRPC` */
const deltaGrpc = 3;

/** Virtual hosts come one by one, which only the incremental variant of the protocol can do. */
function* virtualHostSource(
  {
    vhds,
  }: {
    vhds?: {
      readonly configSource?: {
        readonly configSourceSpecifier: Oneof<{ readonly apiType?: number }>;
      };
    };
  },
  { visited }: CheckScene,
): Iterable<EnvoyFinding> {
  const source = vhds?.configSource?.configSourceSpecifier;
  if (source?.case === undefined) return;
  const at = ["vhds", "config_source"];
  const bootstrap = closestMessage(visited, "envoy.config.bootstrap.v3.Bootstrap")?.message
    .message as
    | { readonly dynamicResources?: { readonly adsConfig?: { readonly apiType: number } } }
    | undefined;
  const { adsConfig } = bootstrap?.dynamicResources ?? {};
  switch (source.case) {
    case "ads":
      if (bootstrap === undefined) return;
      if (adsConfig === undefined)
        yield finding([...at, "ads"], "needs dynamic_resources.ads_config");
      else if (adsConfig.apiType !== deltaGrpc)
        yield finding([...at, "ads"], "needs api_type DELTA_GRPC in dynamic_resources.ads_config");
      return;
    case "apiConfigSource":
      if (source.value?.apiType === deltaGrpc) return;
      yield finding([...at, "api_config_source", "api_type"], "must be DELTA_GRPC");
      return;
    default:
      yield finding(at, "must be ads, or an api_config_source of type DELTA_GRPC");
  }
}

/** Tags are read by the engine of C++, which has most of ECMAScript. Envoy has patterns of its own for tags that begin with `envoy.`. */
function* tagValue({
  tagName,
  tagValue: { case: form, value: text = "" },
}: {
  tagName: string;
  tagValue: Oneof<string>;
}): Iterable<EnvoyFinding> {
  if (form === undefined && !tagName.startsWith("envoy."))
    yield finding([], "needs regex or fixed_value");
  if (form === "regex" && !isPatternOfTag(text))
    yield finding(
      ["regex"],
      "is not a pattern of ECMAScript",
      "flags, named groups and lookbehind are not read in tags",
    );
}

function isPatternOfTag(text: string): boolean {
  if (/\(\?[^:=!]/.test(text.replaceAll(/\\.|\[(?:\\.|[^\]\\])*\]/g, "x"))) return false;
  try {
    new RegExp(text);
    return true;
  } catch {
    return false;
  }
}
