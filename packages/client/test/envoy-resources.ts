import { anyFromJson, envoyRegistry } from "@xdstp/protos/envoy";
import { typeUrlOf } from "@xdstp/resource-types";
import type { RawResource } from "@xdstp/cache";

export const listenerUrl = typeUrlOf("envoy.config.listener.v3.Listener");
export const routesUrl = typeUrlOf("envoy.config.route.v3.RouteConfiguration");
const scopedRoutesUrl = typeUrlOf("envoy.config.route.v3.ScopedRouteConfiguration");
export const clusterUrl = typeUrlOf("envoy.config.cluster.v3.Cluster");
export const endpointsUrl = typeUrlOf("envoy.config.endpoint.v3.ClusterLoadAssignment");
export const secretUrl = typeUrlOf("envoy.extensions.transport_sockets.tls.v3.Secret");

/** JSON of Envoy's configuration. */
export type Json = Readonly<Record<string, unknown>>;
const ads = { ads: {}, resource_api_version: "V3" };

function resource(typeUrl: string, name: string, json: Json): RawResource {
  return {
    typeUrl,
    name,
    value: anyFromJson({ "@type": typeUrl, ...json }, envoyRegistry()).value,
  };
}

/** A listener that gets its routes by name from this ConfigSource. */
export function listener(name: string, routeConfiguration: string, from: Json = ads): RawResource {
  const manager = {
    "@type": typeUrlOf(
      "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
    ),
    stat_prefix: "x",
    rds: { config_source: from, route_config_name: routeConfiguration },
  };
  return resource(listenerUrl, name, { name, api_listener: { api_listener: manager } });
}

/** A listener with one scope, whose routes come by name from this ConfigSource. */
export function scopedListener(name: string, from: Json, routeConfiguration: string): RawResource {
  return scopesListener(name, [from], {
    scoped_route_configurations_list: {
      scoped_route_configurations: [scope("s", routeConfiguration)],
    },
  });
}

/**
 * A listener with a scope that comes by name over SRDS. Each filter chain gets the routes of the
 * scope from one of these ConfigSources.
 */
export function srdsListener(
  name: string,
  scopeName: string,
  from: Json | readonly Json[],
  scopeFrom: Json = ads,
): RawResource {
  return scopesListener(name, [from].flat(), {
    scoped_rds: { scoped_rds_config_source: scopeFrom, srds_resources_locator: scopeName },
  });
}

/** A scope whose routes come by name. */
export function scopedRoutes(name: string, routeConfiguration: string): RawResource {
  return resource(scopedRoutesUrl, name, scope(name, routeConfiguration));
}

function scopesListener(name: string, from: readonly Json[], scopes: Json): RawResource {
  const scopedFrom = (source: Json): Json => ({
    name: "s",
    scope_key_builder: { fragments: [{ header_value_extractor: { name: "x", index: 0 } }] },
    rds_config_source: source,
    ...scopes,
  });
  const manager = (source: Json): Json => ({
    "@type": typeUrlOf(
      "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
    ),
    stat_prefix: "x",
    scoped_routes: scopedFrom(source),
  });
  return resource(listenerUrl, name, {
    name,
    filter_chains: from.map((source) => ({
      filters: [{ name: "x", typed_config: manager(source) }],
    })),
  });
}

function scope(name: string, routeConfiguration: string): Json {
  return {
    name,
    route_configuration_name: routeConfiguration,
    key: { fragments: [{ string_key: "x" }] },
  };
}

/** Routes to each of these clusters. */
export function routes(name: string, ...clusters: readonly string[]): RawResource {
  const all = clusters.map((cluster) => ({
    match: { prefix: `/${cluster.slice(0, 20)}` },
    route: { cluster },
  }));
  return resource(routesUrl, name, {
    name,
    virtual_hosts: [{ name: "h", domains: ["*"], routes: all }],
  });
}

/**
 * A cluster that gets its endpoints by name from this ConfigSource (its own name, unless `service`
 * is given), and a secret if one is named.
 */
export function cluster(
  name: string,
  {
    service,
    secret,
    seconds = 1,
    from = ads,
  }: {
    readonly service?: string;
    readonly from?: Json;
    readonly secret?: string;
    readonly seconds?: number;
  } = {},
): RawResource {
  const tls = {
    "@type": typeUrlOf("envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext"),
    common_tls_context: { tls_certificate_sds_secret_configs: [{ name: secret, sds_config: ads }] },
  };
  return resource(clusterUrl, name, {
    name,
    type: "EDS",
    connect_timeout: `${seconds}s`,
    eds_cluster_config: {
      eds_config: from,
      ...(service !== undefined && { service_name: service }),
    },
    ...(secret !== undefined && { transport_socket: { name: "tls", typed_config: tls } }),
  });
}

/** Endpoints with one port on loopback. */
export function endpoints(name: string, port = 1): RawResource {
  return resource(endpointsUrl, name, {
    cluster_name: name,
    endpoints: [
      {
        lb_endpoints: [
          { endpoint: { address: { socket_address: { address: "127.0.0.1", port_value: port } } } },
        ],
      },
    ],
  });
}

/** A cluster whose endpoints are those of other clusters. */
export function aggregate(name: string, ...clusters: readonly string[]): RawResource {
  const config = {
    "@type": typeUrlOf("envoy.extensions.clusters.aggregate.v3.ClusterConfig"),
    clusters,
  };
  return resource(clusterUrl, name, {
    name,
    connect_timeout: "1s",
    cluster_type: { name: "envoy.clusters.aggregate", typed_config: config },
  });
}

/** A secret without secret contents. */
export function secret(name: string): RawResource {
  return resource(secretUrl, name, { name, generic_secret: { secret: { inline_string: "x" } } });
}
