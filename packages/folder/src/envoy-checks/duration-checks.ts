import { type EnvoyCheck, envoyCheck, type EnvoyFinding, finding } from "./envoy-check.ts";

const core = "envoy.config.core.v3";
const route = "envoy.config.route.v3";
const filters = "envoy.extensions.filters";
const manager = `${filters}.network.http_connection_manager.v3.HttpConnectionManager`;
const redis = `${filters}.network.redis_proxy.v3.RedisProxy`;
const policies = "envoy.extensions.load_balancing_policies";

/**
 * Durations without a constraint that Envoy 1.40 does not take below zero, by their message.
 * Each was tried with Envoy, which accepts some others, such as `slow_start_window` in a typed load balancing policy.
 */
export const positiveDurations: Readonly<Record<string, readonly string[]>> = {
  "envoy.config.bootstrap.v3.Watchdog": [
    "kill_timeout",
    "megamiss_timeout",
    "miss_timeout",
    "multikill_timeout",
  ],
  "envoy.config.cluster.v3.Cluster.CommonLbConfig": ["update_merge_window"],
  "envoy.config.cluster.v3.Cluster.SlowStartConfig": ["slow_start_window"],
  "envoy.config.cluster.v3.OutlierDetection": ["max_ejection_time_jitter"],
  [`${core}.ApiConfigSource`]: ["refresh_delay"],
  [`${core}.ConfigSource`]: ["initial_fetch_timeout"],
  [`${core}.GrpcService`]: ["timeout"],
  [`${core}.HealthCheck`]: ["initial_jitter", "interval_jitter"],
  [`${core}.HttpProtocolOptions`]: [
    "idle_timeout",
    "max_connection_duration",
    "max_stream_duration",
  ],
  "envoy.config.listener.v3.FilterChain": ["transport_socket_connect_timeout"],
  "envoy.config.listener.v3.Listener": ["listener_filters_timeout"],
  "envoy.config.overload.v3.OverloadManager": ["refresh_interval"],
  "envoy.config.overload.v3.ScaleTimersOverloadActionConfig.ScaleTimer": ["min_timeout"],
  [`${route}.RetryPolicy`]: ["per_try_idle_timeout", "per_try_timeout"],
  [`${route}.RouteAction`]: [
    "flush_timeout",
    "grpc_timeout_offset",
    "idle_timeout",
    "max_grpc_timeout",
    "timeout",
  ],
  [`${route}.RouteAction.HashPolicy.Cookie`]: ["ttl"],
  [`${route}.RouteAction.MaxStreamDuration`]: [
    "grpc_timeout_header_max",
    "grpc_timeout_header_offset",
    "max_stream_duration",
  ],
  "envoy.extensions.clusters.redis.v3.RedisClusterConfig": ["redirect_refresh_interval"],
  [`${filters}.http.admission_control.v3.AdmissionControl`]: ["sampling_window"],
  [`${filters}.http.health_check.v3.HealthCheck`]: ["cache_time"],
  [`${filters}.http.jwt_authn.v3.JwksAsyncFetch`]: ["failed_refetch_duration"],
  [`${filters}.http.jwt_authn.v3.JwtProvider`]: ["max_lifetime"],
  [`${filters}.http.on_demand.v3.OnDemandCds`]: ["timeout"],
  [`${filters}.http.ratelimit.v3.RateLimit`]: ["timeout"],
  [`${filters}.network.connection_limit.v3.ConnectionLimit`]: ["delay"],
  [manager]: [
    "delayed_close_timeout",
    "drain_timeout",
    "request_timeout",
    "stream_flush_timeout",
    "stream_idle_timeout",
  ],
  [`${redis}.ConnPoolSettings`]: ["buffer_flush_timeout", "op_timeout"],
  [`${redis}.RedisFault`]: ["delay"],
  [`${filters}.network.tcp_proxy.v3.TcpProxy`]: ["idle_timeout"],
  [`${filters}.udp.udp_proxy.v3.UdpProxyConfig`]: ["idle_timeout"],
  [`${policies}.client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin`]: [
    "blackout_period",
    "weight_expiration_period",
    "weight_update_period",
  ],
};

/** Finds durations below zero. */
export const durationChecks: readonly EnvoyCheck[] = Object.entries(positiveDurations).map(
  ([type, fields]) => {
    const keys = fields.map((field) => [field, localName(field)] as const);
    return envoyCheck<Durations>("bad-value", type, (message) => negative(message, keys));
  },
);

/** A message by its fields, of which those that are read are durations. */
type Durations = Readonly<
  Record<string, { readonly seconds: bigint; readonly nanos: number } | undefined>
>;

function* negative(
  message: Durations,
  keys: readonly (readonly [field: string, key: string])[],
): Iterable<EnvoyFinding> {
  for (const [field, key] of keys) {
    const { seconds = 0n, nanos = 0 } = message[key] ?? {};
    if (seconds < 0n || nanos < 0) yield finding([field], "must not be negative");
  }
}

function localName(field: string): string {
  return field.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}
