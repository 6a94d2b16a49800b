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
import { closestMessage } from "./visit-messages.ts";

/** A generated `Duration`. */
interface Duration {
  readonly seconds: bigint;
  readonly nanos: number;
}

const filters = "envoy.extensions.filters";
const managerType = `${filters}.network.http_connection_manager.v3.HttpConnectionManager`;

/** What Envoy rejects in settings that need each other, exclude each other or are compared. */
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
  envoyCheck("bad-cluster", "envoy.config.core.v3.BindConfig", sourceAddress),
  envoyCheck("bad-value", "envoy.config.core.v3.Pipe", modeOfPipe),
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

function* sourceAddress({
  sourceAddress: source,
}: {
  sourceAddress?: { readonly address: string; readonly resolverName: string };
}): Iterable<EnvoyFinding> {
  const { address = "", resolverName = "" } = source ?? {};
  if (address !== "" && resolverName === "" && isIP(address) === 0)
    yield finding(["source_address", "address"], `${quote(address)} is not an IP address`);
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
