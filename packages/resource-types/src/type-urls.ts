const PREFIX = "type.googleapis.com/";

type TypeName =
  | "listener"
  | "routeConfiguration"
  | "scopedRouteConfiguration"
  | "virtualHost"
  | "cluster"
  | "clusterLoadAssignment"
  | "lbEndpoint"
  | "secret"
  | "runtime"
  | "typedExtensionConfig";

/** The type URLs of Envoy's resource types. */
export const typeUrls: Readonly<Record<TypeName, string>> = {
  listener: typeUrlOf("envoy.config.listener.v3.Listener"),
  routeConfiguration: typeUrlOf("envoy.config.route.v3.RouteConfiguration"),
  scopedRouteConfiguration: typeUrlOf("envoy.config.route.v3.ScopedRouteConfiguration"),
  virtualHost: typeUrlOf("envoy.config.route.v3.VirtualHost"),
  cluster: typeUrlOf("envoy.config.cluster.v3.Cluster"),
  clusterLoadAssignment: typeUrlOf("envoy.config.endpoint.v3.ClusterLoadAssignment"),
  lbEndpoint: typeUrlOf("envoy.config.endpoint.v3.LbEndpoint"),
  secret: typeUrlOf("envoy.extensions.transport_sockets.tls.v3.Secret"),
  runtime: typeUrlOf("envoy.service.runtime.v3.Runtime"),
  typedExtensionConfig: typeUrlOf("envoy.config.core.v3.TypedExtensionConfig"),
};

/** The type URL of a full message name (B-TYPE-1). */
export function typeUrlOf(fullName: string): string {
  return PREFIX + fullName;
}
