/** One discovery service. A method that it does not have is absent; the path of a method is `/<service>/<method>`. */
export interface ServiceRow {
  /** The one type it serves; absent where it serves every type. */
  readonly typeUrl?: string;
  /** Full name, with its package. */
  readonly service: string;
  /** State of the world: a stream of DiscoveryRequest to a stream of DiscoveryResponse. */
  readonly sotw?: string;
  /** Incremental: a stream of DeltaDiscoveryRequest to a stream of DeltaDiscoveryResponse. */
  readonly delta?: string;
  /** Once: a DiscoveryRequest to a DiscoveryResponse. */
  readonly fetch?: string;
  /** Where the same is had by HTTP, with the request as JSON body of a POST. */
  readonly restPath?: string;
}

/** Every discovery service of Envoy's API: the aggregated one first, then one for each type. For servers that mount them and clients that call them. */
export const SERVICES: readonly ServiceRow[] = [
  {
    service: "envoy.service.discovery.v3.AggregatedDiscoveryService",
    sotw: "StreamAggregatedResources",
    delta: "DeltaAggregatedResources",
  },
  row(
    "envoy.config.listener.v3.Listener",
    "envoy.service.listener.v3.ListenerDiscoveryService",
    "Listeners",
    "listeners",
  ),
  row(
    "envoy.config.route.v3.RouteConfiguration",
    "envoy.service.route.v3.RouteDiscoveryService",
    "Routes",
    "routes",
  ),
  row(
    "envoy.config.route.v3.ScopedRouteConfiguration",
    "envoy.service.route.v3.ScopedRoutesDiscoveryService",
    "ScopedRoutes",
    "scoped-routes",
  ),
  deltaRow(
    "envoy.config.route.v3.VirtualHost",
    "envoy.service.route.v3.VirtualHostDiscoveryService",
    "VirtualHosts",
  ),
  row(
    "envoy.config.cluster.v3.Cluster",
    "envoy.service.cluster.v3.ClusterDiscoveryService",
    "Clusters",
    "clusters",
  ),
  row(
    "envoy.config.endpoint.v3.ClusterLoadAssignment",
    "envoy.service.endpoint.v3.EndpointDiscoveryService",
    "Endpoints",
    "endpoints",
  ),
  deltaRow(
    "envoy.config.endpoint.v3.LbEndpoint",
    "envoy.service.endpoint.v3.LocalityEndpointDiscoveryService",
    "LocalityEndpoints",
  ),
  row(
    "envoy.extensions.transport_sockets.tls.v3.Secret",
    "envoy.service.secret.v3.SecretDiscoveryService",
    "Secrets",
    "secrets",
  ),
  row(
    "envoy.service.runtime.v3.Runtime",
    "envoy.service.runtime.v3.RuntimeDiscoveryService",
    "Runtime",
    "runtime",
  ),
  row(
    "envoy.config.core.v3.TypedExtensionConfig",
    "envoy.service.extension.v3.ExtensionConfigDiscoveryService",
    "ExtensionConfigs",
    "extension_configs",
  ),
];

function row(type: string, service: string, things: string, path: string): ServiceRow {
  const restPath = `/v3/discovery:${path}`;
  return {
    ...deltaRow(type, service, things),
    sotw: `Stream${things}`,
    fetch: `Fetch${things}`,
    restPath,
  };
}

function deltaRow(type: string, service: string, things: string): ServiceRow {
  return { typeUrl: `type.googleapis.com/${type}`, service, delta: `Delta${things}` };
}
