import { typeUrlOf, typeUrls } from "./type-urls.ts";

/** A field that holds the name of another resource, or several. */
export interface NamingField {
  /** The full name of the message. */
  readonly message: string;
  /** Its number; through a map to its key: `4.1`. */
  readonly field: string;
  /** The type of the named resource. */
  readonly typeUrl: string;
  /** The path of field numbers to the ConfigSource of the named resource. Absent: this message does not state the source, as for clusters. */
  readonly source?: string;
  /** The message around it from which `source` begins, where that is not its own. */
  readonly sourceIn?: string;
  /** The type of names in the named resource that have the ConfigSource around it: that of `sourceIn` of their own field. Absent: the named resource states all sources. */
  readonly within?: string;
  /** Without a source the name means something else, a static secret of the bootstrap for one. Absent: false. */
  readonly sourceRequired?: boolean;
}

const FILTERS = "envoy.extensions.filters";

/** The fields that name a cluster; the proto states it in comments only. Not here: the clusters of an ApiConfigSource, which are static by rule, and headers that hold a name. */
const clusterFields: Readonly<Record<string, string>> = {
  "envoy.config.core.v3.GrpcService.EnvoyGrpc": "1",
  "envoy.config.core.v3.HttpUri": "2",
  "envoy.config.route.v3.RouteAction": "1",
  "envoy.config.route.v3.RouteAction.RequestMirrorPolicy": "1",
  "envoy.config.route.v3.WeightedCluster.ClusterWeight": "1",
  "envoy.config.trace.v3.DatadogConfig": "1",
  "envoy.config.trace.v3.LightstepConfig": "1",
  "envoy.config.trace.v3.ZipkinConfig": "1",
  "envoy.extensions.access_loggers.fluentd.v3.FluentdAccessLogConfig": "1",
  "envoy.extensions.clusters.aggregate.v3.ClusterConfig": "1",
  "envoy.extensions.clusters.mcp_multicluster.v3.ClusterConfig.McpCluster": "1",
  [`${FILTERS}.http.cache_v2.v3.CacheV2Config`]: "7",
  [`${FILTERS}.http.gcp_authn.v3.GcpAuthnFilterConfig`]: "5",
  [`${FILTERS}.http.health_check.v3.HealthCheck`]: "4.1",
  [`${FILTERS}.http.mcp_router.v3.McpRouter.McpCluster`]: "1",
  [`${FILTERS}.network.client_ssl_auth.v3.ClientSSLAuth`]: "1",
  [`${FILTERS}.network.dubbo_proxy.v3.RouteAction`]: "1",
  [`${FILTERS}.network.generic_proxy.action.v3.RouteAction`]: "1",
  [`${FILTERS}.network.redis_proxy.v3.RedisProxy.PrefixRoutes.Route`]: "3",
  [`${FILTERS}.network.redis_proxy.v3.RedisProxy.PrefixRoutes.Route.ReadCommandPolicy`]: "1",
  [`${FILTERS}.network.redis_proxy.v3.RedisProxy.PrefixRoutes.Route.RequestMirrorPolicy`]: "1",
  [`${FILTERS}.network.rocketmq_proxy.v3.RouteAction`]: "1",
  [`${FILTERS}.network.sip_proxy.v3alpha.RouteAction`]: "1",
  [`${FILTERS}.network.tcp_proxy.v3.TcpProxy`]: "2",
  [`${FILTERS}.network.tcp_proxy.v3.TcpProxy.WeightedCluster.ClusterWeight`]: "1",
  [`${FILTERS}.network.thrift_proxy.v3.RouteAction`]: "1",
  [`${FILTERS}.network.thrift_proxy.v3.RouteAction.RequestMirrorPolicy`]: "1",
  [`${FILTERS}.network.thrift_proxy.v3.WeightedCluster.ClusterWeight`]: "1",
  [`${FILTERS}.udp.udp_proxy.v3.Route`]: "1",
  [`${FILTERS}.udp.udp_proxy.v3.UdpProxyConfig`]: "2",
  "envoy.extensions.reverse_tunnel_reporters.v3alpha.clients.grpc_client.GrpcClientConfig": "2",
  "envoy.extensions.router.cluster_specifier.golang.v3alpha.Config": "3",
  "envoy.extensions.router.cluster_specifiers.lua.v3.LuaConfig": "2",
  "envoy.extensions.router.cluster_specifiers.matcher.v3.ClusterAction": "1",
  "envoy.extensions.router.cluster_specifiers.priority_group.v3.ClusterWeight": "1",
  "envoy.extensions.tracers.fluentd.v3.FluentdConfig": "1",
};

/** The fields that name a resource of the config source next to them. The EDS of a cluster is not among them: see `assignmentOf`. */
const discovered: readonly NamingField[] = [
  {
    message: "envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig",
    field: "1",
    typeUrl: typeUrls.secret,
    source: "2",
    sourceRequired: true,
  },
  {
    message: "envoy.extensions.transport_sockets.tls.cert_selectors.on_demand_secret.v3.Config",
    field: "3",
    typeUrl: typeUrls.secret,
    source: "1",
  },
  {
    message: "envoy.config.endpoint.v3.LedsClusterLocalityConfig",
    field: "2",
    typeUrl: typeUrls.lbEndpoint,
    source: "1",
  },
  {
    message: "envoy.config.listener.v3.Listener.FcdsConfig",
    field: "1",
    typeUrl: typeUrlOf("envoy.config.listener.v3.FilterChain"),
    source: "2",
  },
  {
    message: "envoy.config.route.v3.ScopedRouteConfiguration",
    field: "2",
    typeUrl: typeUrls.routeConfiguration,
    source: "3",
    sourceIn: `${FILTERS}.network.http_connection_manager.v3.ScopedRoutes`,
  },
  {
    message: `${FILTERS}.network.http_connection_manager.v3.Rds`,
    field: "2",
    typeUrl: typeUrls.routeConfiguration,
    source: "1",
  },
  {
    message: `${FILTERS}.network.http_connection_manager.v3.ScopedRds`,
    field: "2",
    typeUrl: typeUrls.scopedRouteConfiguration,
    source: "1",
    within: typeUrls.routeConfiguration,
  },
  {
    message: `${FILTERS}.network.thrift_proxy.v3.Trds`,
    field: "2",
    typeUrl: typeUrlOf(`${FILTERS}.network.thrift_proxy.v3.RouteConfiguration`),
    source: "1",
  },
  {
    message: `${FILTERS}.network.dubbo_proxy.v3.Drds`,
    field: "2",
    typeUrl: typeUrlOf(`${FILTERS}.network.dubbo_proxy.v3.MultipleRouteConfiguration`),
    source: "1",
  },
  {
    message: `${FILTERS}.network.generic_proxy.v3.GenericRds`,
    field: "2",
    typeUrl: typeUrlOf(`${FILTERS}.network.generic_proxy.v3.RouteConfiguration`),
    source: "1",
  },
  {
    message: "envoy.extensions.clusters.aggregate.v3.AggregateClusterResource",
    field: "2",
    typeUrl: typeUrlOf("envoy.extensions.clusters.aggregate.v3.ClusterConfig"),
    source: "1",
  },
  {
    message: "envoy.extensions.access_loggers.filters.process_ratelimit.v3.DynamicTokenBucket",
    field: "1",
    typeUrl: typeUrlOf("envoy.type.v3.TokenBucket"),
    source: "2",
  },
];

/** Extensions that come by themselves (ECDS), with the path to their config source; the message holds their name in field 1. */
const extensionSources: Readonly<Record<string, string>> = {
  "envoy.config.cluster.v3.Filter": "3.1",
  "envoy.config.listener.v3.Filter": "5.1",
  "envoy.config.listener.v3.ListenerFilter": "5.1",
  [`${FILTERS}.http.composite.v3.DynamicConfig`]: "2.1",
  [`${FILTERS}.network.http_connection_manager.v3.HttpFilter`]: "5.1",
  [`${FILTERS}.udp.udp_proxy.v3.UdpProxyConfig.SessionFilter`]: "3.1",
};

/** All fields of the Envoy API that name a resource of xDS; a test holds them against the API. */
export const namingFields: readonly NamingField[] = [
  ...Object.entries(clusterFields).map(([message, field]) => ({
    message,
    field,
    typeUrl: typeUrls.cluster,
  })),
  ...discovered,
  ...Object.entries(extensionSources).map(([message, source]) => ({
    message,
    field: "1",
    typeUrl: typeUrls.typedExtensionConfig,
    source,
    sourceRequired: true,
  })),
];
