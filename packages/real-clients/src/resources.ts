import type { JsonObject } from "@bufbuild/protobuf";
import {
  cluster as clusterType,
  clusterLoadAssignment,
  listener as listenerType,
  routeConfiguration,
} from "@xdstp/resource-types";
import { typeFromTypeUrl } from "@xdstp/uri";

/** A resource as a suite writes it. */
export interface TestResource {
  readonly typeUrl: string;
  readonly name: string;
  readonly body: JsonObject;
  /** Milliseconds; absent: none. */
  readonly ttlMs?: number;
}

/** The source from which Envoy gets a resource: `ads: {}`, or a stream of its own. `null` in a resource: the authority of the name decides. */
export type Source = JsonObject;

/** Everything over the one stream. */
export const ads: Source = { ads: {}, resource_api_version: "V3" };

/** An xdstp name. */
export function xdstpName(authority: string, typeUrl: string, id: string): string {
  return `xdstp://${authority}/${typeFromTypeUrl(typeUrl) ?? ""}/${id}`;
}

const router = {
  name: "router",
  typed_config: { "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router" },
};

const managerType = {
  "@type":
    "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
  stat_prefix: "edge",
};

/** An HTTP connection manager that takes its routes by name. */
export function connectionManager(route: string, source: Source | null = ads): JsonObject {
  return {
    ...managerType,
    rds: { route_config_name: route, ...(source === null ? {} : { config_source: source }) },
    http_filters: [router],
  };
}

/** A listener on a free port of the loopback, for Envoy. */
export function listener(name: string, route: string, source?: Source | null): TestResource {
  const filter = { name: "http", typed_config: connectionManager(route, source) };
  return {
    typeUrl: listenerType.typeUrl,
    name,
    body: { name, address: address(0), filter_chains: [{ filters: [filter] }] },
  };
}

/** A listener for Envoy with routes of its own, which it rejects while it does not know their cluster. */
export function inlineListener(name: string, cluster: string): TestResource {
  const routes = { ...route("own", cluster).body, validate_clusters: true };
  const filter = {
    name: "http",
    typed_config: { ...managerType, http_filters: [router], route_config: routes },
  };
  return {
    typeUrl: listenerType.typeUrl,
    name,
    body: { name, address: address(0), filter_chains: [{ filters: [filter] }] },
  };
}

/** A listener for gRPC clients. */
export function apiListener(name: string, route: string): TestResource {
  return {
    typeUrl: listenerType.typeUrl,
    name,
    body: { name, api_listener: { api_listener: connectionManager(route) } },
  };
}

/** Routes that lead everything to one cluster. */
export function route(name: string, cluster: string): TestResource {
  return {
    typeUrl: routeConfiguration.typeUrl,
    name,
    body: {
      name,
      virtual_hosts: [
        { name: "v", domains: ["*"], routes: [{ match: { prefix: "/" }, route: { cluster } }] },
      ],
    },
  };
}

/** A cluster whose endpoints are a resource of their own. */
export function cluster(
  name: string,
  endpoints: string,
  more: JsonObject = {},
  source: Source | null = ads,
): TestResource {
  const eds = { service_name: endpoints, ...(source === null ? {} : { eds_config: source }) };
  return {
    typeUrl: clusterType.typeUrl,
    name,
    body: {
      name,
      type: "EDS",
      connect_timeout: "1s",
      lb_policy: "ROUND_ROBIN",
      eds_cluster_config: eds,
      ...more,
    },
  };
}

/** A cluster for a load: a machine that is slow to connect is not a fault of the server. */
export function patientCluster(
  name: string,
  endpoints: string,
  more: JsonObject = {},
): TestResource {
  return cluster(name, endpoints, { connect_timeout: "20s", ...more });
}

/** A cluster that Envoy waits for without an end, as long as its endpoints do not come. */
export function coldCluster(name: string, endpoints: string): TestResource {
  return cluster(name, endpoints, {}, { ...ads, initial_fetch_timeout: "0s" });
}

/** Endpoints on the loopback. */
export function endpoints(name: string, ...ports: readonly number[]): TestResource {
  const lb_endpoints = ports.map((port) => ({
    health_status: "HEALTHY",
    load_balancing_weight: 1,
    endpoint: { address: address(port) },
  }));
  const locality = { locality: { region: "r", zone: "z" }, load_balancing_weight: 1, lb_endpoints };
  return {
    typeUrl: clusterLoadAssignment.typeUrl,
    name,
    body: { cluster_name: name, endpoints: [locality] },
  };
}

function address(port: number): JsonObject {
  return { socket_address: { address: "127.0.0.1", port_value: port } };
}
