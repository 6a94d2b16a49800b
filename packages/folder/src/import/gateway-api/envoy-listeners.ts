import type { JsonObject } from "@bufbuild/protobuf";
import { listener as listenerType, routeConfiguration } from "@xdstp/resource-types";
import type { JsonResource } from "../json-resource.ts";
import { adsSource } from "../plan-import.ts";
import { type AttachedRoute, createRoutesAt, type RoutesAt } from "./attached-routes.ts";
import type { Backends } from "./backends.ts";
import { type GatewayListener, titleOfListener } from "./gateway-listeners.ts";
import { anyHost, bySpecificity, createOwnerOf } from "./hostnames.ts";
import {
  dangling,
  field,
  itemsOf,
  type KubernetesObject,
  notImported,
  reportUnread,
  rootOf,
  titleOf,
} from "./object-node.ts";
import { weightedBackends } from "./route-rules.ts";
import { virtualHosts } from "./virtual-hosts.ts";

/** The listeners of Envoy and their routes: one listener for all listeners of Gateways on a port, which has the name of the first of them. */
export function envoyListeners(
  listeners: readonly GatewayListener[],
  /** The older route first. */
  attached: readonly AttachedRoute[],
  backends: Backends,
): readonly JsonResource[] {
  const byPort = Map.groupBy(
    listeners,
    ({ port, protocol }) => `${protocol === "UDP" ? "udp" : "tcp"} ${port}`,
  );
  const routesAt = createRoutesAt(attached);
  return [...byPort.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    if (first.protocol === "UDP") return udpListener(first, routesAt, backends);
    const plan = chainsOf(group, routesAt, backends);
    if (plan.chains.length === 0) return [];
    const isTls = first.protocol === "HTTPS" || first.protocol === "TLS";
    const name = titleOfListener(first);
    const json = {
      name,
      address: addressOf(first),
      ...(isTls && { listener_filters: [tlsInspector()] }),
      filter_chains: [...plan.chains],
    };
    return [{ type: listenerType, name, json }, ...plan.routes];
  });
}

interface Chains {
  readonly chains: readonly JsonObject[];
  /** The route configurations that they refer to. */
  readonly routes: readonly JsonResource[];
}

function chainsOf(
  group: readonly GatewayListener[],
  routesAt: RoutesAt,
  backends: Backends,
): Chains {
  const http = group.filter(({ protocol }) => protocol === "HTTP");
  if (http.length > 0) return httpChain(http, routesAt, backends);
  // TLS says the host before the request does, so each hostname has a chain.
  const secure = Map.groupBy(
    group.filter(({ protocol }) => protocol === "HTTPS"),
    ({ hostname }) => hostname,
  );
  const chains = [...secure.values()].map((same) => httpChain(same, routesAt, backends));
  const taken = new Map<string, AttachedRoute>();
  const ownerOf = createOwnerOf(group);
  const streams = group.flatMap((one) => streamChains(one, { routesAt, taken, ownerOf, backends }));
  return {
    chains: [...chains.flatMap((one) => one.chains), ...streams],
    routes: chains.flatMap((one) => one.routes),
  };
}

/** A chain for listeners with the same connections. */
function httpChain(
  same: readonly GatewayListener[],
  routesAt: RoutesAt,
  backends: Backends,
): Chains {
  const [first] = same;
  if (first === undefined) return { chains: [], routes: [] };
  const name = titleOfListener(first);
  const hosts = virtualHosts(same, routesAt(same), backends);
  const routes = {
    name,
    virtual_hosts: hosts,
    ignore_port_in_host_matching: true,
  };
  const manager = {
    "@type":
      "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
    stat_prefix: name,
    rds: { config_source: adsSource(), route_config_name: name },
    http_filters: [
      ...(JSON.stringify(hosts).includes("cors.v3.CorsPolicy") ? [httpFilter("cors", "Cors")] : []),
      httpFilter("router", "Router"),
    ],
    use_remote_address: true,
    normalize_path: true,
    merge_slashes: true,
    path_with_escaped_slashes_action: "UNESCAPE_AND_REDIRECT",
    upgrade_configs: [{ upgrade_type: "websocket" }],
  };
  const filter = { name: "envoy.filters.network.http_connection_manager", typed_config: manager };
  return {
    chains: [chain(first, first.hostname, filter)],
    routes: [{ type: routeConfiguration, name, json: routes }],
  };
}

function httpFilter(name: string, message: string): JsonObject {
  return {
    name: `envoy.filters.http.${name}`,
    typed_config: {
      "@type": `type.googleapis.com/envoy.extensions.filters.http.${name}.v3.${message}`,
    },
  };
}

function chain(
  { tls, protocol }: GatewayListener,
  hostname: string,
  filter: JsonObject,
): JsonObject {
  const isTls = protocol === "HTTPS" || protocol === "TLS";
  return {
    ...(isTls && hostname !== anyHost && { filter_chain_match: { server_names: [hostname] } }),
    filters: [filter],
    ...(tls && { transport_socket: { name: "envoy.transport_sockets.tls", typed_config: tls } }),
  };
}

interface StreamContext {
  readonly routesAt: RoutesAt;
  /** The routes that have hostnames of the port. */
  readonly taken: Map<string, AttachedRoute>;
  /** The listener that a host belongs to. */
  readonly ownerOf: (hostname: string) => GatewayListener | undefined;
  readonly backends: Backends;
}

/** The chains of a listener that forwards connections as they are. A hostname has one route, the oldest. */
function streamChains(
  listener: GatewayListener,
  { routesAt, taken, ownerOf, backends }: StreamContext,
): readonly JsonObject[] {
  if (listener.protocol !== "TLS" && listener.protocol !== "TCP") return [];
  const own = routesAt([listener]);
  if (own.length === 0) reportWithoutRoute(listener);
  return own
    .flatMap((one) => {
      const free = one.hostnames.filter((hostname) => {
        const owner = ownerOf(hostname);
        const other = owner?.hostname === listener.hostname ? taken.get(hostname) : owner;
        if (other === undefined) taken.set(hostname, one);
        else
          notImported(
            rootOf(one.route),
            `${"route" in other ? titleOf(other.route) : titleOfListener(other)} has ${hostname === anyHost ? "all connections" : hostname} on port ${listener.port}`,
            "keep one of them, or give it another hostname",
          );
        return other === undefined;
      });
      if (free.length === 0) return [];
      const isPassedOn = listener.protocol === "TLS" && listener.tls === undefined;
      const filter = tcpProxy(one.route, backends, isPassedOn ? "passthrough" : "tcp");
      return filter === undefined
        ? []
        : free.map((hostname) => ({ hostname, json: chain(listener, hostname, filter) }));
    })
    .sort((one, other) => bySpecificity(one.hostname, other.hostname))
    .map(({ json }) => json);
}

function reportWithoutRoute({ node, kinds }: GatewayListener): void {
  const needed = [...kinds].join(" or ");
  notImported(node, "it has no route", `attach a ${needed}, or remove the listener`);
}

/** Of the rules of a TLSRoute or TCPRoute one can be matched: the first. */
function firstRule(route: KubernetesObject) {
  const [rule, ...others] = itemsOf(field(rootOf(route), "spec", "rules"));
  for (const other of others)
    notImported(other, "connections always match the first rule", "remove it");
  if (rule === undefined)
    notImported(rootOf(route), "it has no rules", "add a rule with backendRefs");
  else reportUnread(rule, ["name", "backendRefs"]);
  return rule;
}

/** Connections for backends that cannot be used are closed. */
function tcpProxy(
  route: KubernetesObject,
  backends: Backends,
  protocol: "tcp" | "passthrough",
): JsonObject | undefined {
  const rule = firstRule(route);
  if (rule === undefined) return undefined;
  const { usable, lost } = weightedBackends(rule, backends, protocol);
  if (usable.length === 0)
    dangling(
      rule,
      "has no backend that can be used, so these connections are closed",
      "refer to a Service, with a weight above 0",
    );
  const rest = usable.reduce((all, { weight }) => all + weight, 0);
  const missing = Math.round((rest * lost) / (1 - lost));
  const clusters = [
    ...usable.map(({ name, weight }) => ({ name, weight })),
    ...(lost > 0 && missing > 0 ? [{ name: backends.nowhere(), weight: missing }] : []),
  ];
  const [only, ...more] = clusters;
  return {
    name: "envoy.filters.network.tcp_proxy",
    typed_config: {
      "@type": "type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy",
      stat_prefix: `${route.kind.toLowerCase()}/${route.namespace}/${route.name}`,
      ...(more.length > 0
        ? { weighted_clusters: { clusters } }
        : { cluster: only?.name ?? backends.nowhere() }),
    },
  };
}

/** Envoy forwards datagrams to one cluster. */
function udpListener(
  listener: GatewayListener,
  routesAt: RoutesAt,
  backends: Backends,
): readonly JsonResource[] {
  const [first, ...others] = routesAt([listener]);
  if (first === undefined) reportWithoutRoute(listener);
  for (const other of others)
    notImported(
      rootOf(other.route),
      `an older UDPRoute has all datagrams on port ${listener.port}`,
      "keep one of them",
    );
  const rule = first && firstRule(first.route);
  if (rule === undefined) return [];
  const [only, ...more] = weightedBackends(rule, backends, "udp").usable;
  for (const { reference } of more)
    notImported(reference, "datagrams go to one backend", "keep one backend");
  const name = titleOfListener(listener);
  const json = {
    name,
    address: addressOf(listener),
    udp_listener_config: {},
    listener_filters: [
      {
        name: "envoy.filters.udp_listener.udp_proxy",
        typed_config: {
          "@type": "type.googleapis.com/envoy.extensions.filters.udp.udp_proxy.v3.UdpProxyConfig",
          stat_prefix: name,
          matcher: {
            on_no_match: {
              action: {
                name: "route",
                typed_config: {
                  "@type": "type.googleapis.com/envoy.extensions.filters.udp.udp_proxy.v3.Route",
                  cluster: only?.name ?? backends.nowhere(),
                },
              },
            },
          },
        },
      },
    ],
  };
  return [{ type: listenerType, name, json }];
}

function addressOf({ port, protocol }: GatewayListener): JsonObject {
  return {
    socket_address: {
      address: "0.0.0.0",
      port_value: port,
      ...(protocol === "UDP" && { protocol: "UDP" }),
    },
  };
}

function tlsInspector(): JsonObject {
  return {
    name: "envoy.filters.listener.tls_inspector",
    typed_config: {
      "@type":
        "type.googleapis.com/envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector",
    },
  };
}
