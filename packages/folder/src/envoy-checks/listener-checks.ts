import { quote } from "../folder-problem.ts";
import {
  type CheckScene,
  type EnvoyCheck,
  envoyCheck,
  type EnvoyFinding,
  type Extension,
  finding,
  type Oneof,
  typeOfExtension,
} from "./envoy-check.ts";
import {
  addressFaults,
  canonicalAddress,
  type SocketAddress as PlainAddress,
} from "./network-addresses.ts";
import { closestMessage } from "./visit-messages.ts";

interface SocketAddress extends PlainAddress {
  readonly protocol: number;
  readonly networkNamespaceFilepath: string;
}

interface Address {
  readonly address: Oneof<SocketAddress & { readonly path: string }>;
}

interface FilterChain {
  readonly filters: readonly Extension[];
  readonly transportSocket?: Extension;
}

/** A generated listener, as far as its addresses go. */
export interface BoundListener {
  readonly name: string;
  readonly address?: Address;
  readonly additionalAddresses: readonly { readonly address?: Address }[];
}

interface Listener extends BoundListener {
  readonly filterChains: readonly FilterChain[];
  readonly defaultFilterChain?: FilterChain;
  readonly udpListenerConfig?: { readonly quicOptions?: object };
  readonly apiListener?: object;
  readonly listenerSpecifier: Oneof;
}

const managerType =
  "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
const http3 = 3;
const udp = 1;

/** Checks of listeners and their filters. */
export const listenerChecks: readonly EnvoyCheck[] = [
  envoyCheck("bad-listener", "envoy.config.listener.v3.Listener", parts),
  envoyCheck("bad-filter-order", "envoy.config.listener.v3.FilterChain", networkFilters),
  envoyCheck("bad-filter-order", managerType, httpFilters),
  envoyCheck("bad-listener", managerType, codec),
  envoyCheck(
    "bad-filter-order",
    "envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
    upstreamFilters,
  ),
  envoyCheck("bad-listener", "envoy.config.bootstrap.v3.Bootstrap.StaticResources", sameAddresses),
];

function* parts(listener: Listener): Iterable<EnvoyFinding> {
  const { address, filterChains, defaultFilterChain, udpListenerConfig, apiListener } = listener;
  if (listener.listenerSpecifier.case === "internalListener" && address !== undefined)
    yield finding(["address"], "an internal listener has no address");
  if (apiListener !== undefined || listener.listenerSpecifier.case !== undefined) return;
  if (address?.address.case === "envoyInternalAddress")
    yield finding(
      ["address", "envoy_internal_address"],
      "is for endpoints",
      "set internal_listener instead of address",
    );
  if (address === undefined) yield finding([], "a listener needs an address");
  const isUdp = address?.address.value?.protocol === udp;
  if (filterChains.length === 0 && defaultFilterChain === undefined && !isUdp)
    yield finding([], "a listener needs filter_chains or default_filter_chain");
  if (udpListenerConfig?.quicOptions !== undefined && filterChains.length === 0)
    yield finding(["udp_listener_config"], "a listener with QUIC needs filter_chains");
  for (const [at, one] of [
    [["address"], address] as const,
    ...listener.additionalAddresses.map(
      (more, index) => [["additional_addresses", index, "address"], more.address] as const,
    ),
  ]) {
    if (one?.address.case !== "socketAddress" || one.address.value === undefined) continue;
    yield* addressFaults(
      one.address.value,
      [...at, "socket_address"],
      "a listener",
      'use "0.0.0.0" or "::" for all addresses of the machine',
    );
  }
}

/** Network filters that end their chain. */
const terminalNetwork: ReadonlySet<string> = new Set(
  [
    "http_connection_manager.v3.HttpConnectionManager",
    "tcp_proxy.v3.TcpProxy",
    "echo.v3.Echo",
    "redis_proxy.v3.RedisProxy",
    "thrift_proxy.v3.ThriftProxy",
    "dubbo_proxy.v3.DubboProxy",
    "generic_proxy.v3.GenericProxy",
    "direct_response.v3.Config",
  ].map((name) => `envoy.extensions.filters.network.${name}`),
);

/** Network filters that pass on what they get. */
const passingNetwork: ReadonlySet<string> = new Set(
  [
    "connection_limit.v3.ConnectionLimit",
    "ext_authz.v3.ExtAuthz",
    "ext_proc.v3.NetworkExternalProcessor",
    "geoip.v3.Geoip",
    "local_ratelimit.v3.LocalRateLimit",
    "mongo_proxy.v3.MongoProxy",
    "ratelimit.v3.RateLimit",
    "rbac.v3.RBAC",
    "set_filter_state.v3.Config",
    "sni_cluster.v3.SniCluster",
    "sni_dynamic_forward_proxy.v3.FilterConfig",
    "zookeeper_proxy.v3.ZooKeeperProxy",
  ].map((name) => `envoy.extensions.filters.network.${name}`),
);

function networkFilters({ filters }: FilterChain): Iterable<EnvoyFinding> {
  return lastOf(filters, "filters", {
    isTerminal: (type) => terminalNetwork.has(type),
    isPassing: (type) => passingNetwork.has(type),
    hint: "the last filter of a chain answers or proxies, for instance tcp_proxy or http_connection_manager",
  });
}

const routerType = "envoy.extensions.filters.http.router.v3.Router";
const codecType = "envoy.extensions.filters.http.upstream_codec.v3.UpstreamCodec";
/** HTTP filters that may be the last one, some by their configuration only. */
const endingHttp: ReadonlySet<string> = new Set(
  ["dynamic_modules", "mcp_router", "file_server", "wasm", "filter_chain", "tap", "composite"].map(
    (name) => `envoy.extensions.filters.http.${name}.v3`,
  ),
);

function isPassingHttp(type: string): boolean {
  return (
    type.startsWith("envoy.extensions.filters.http.") &&
    type !== routerType &&
    type !== codecType &&
    !endingHttp.has(type.slice(0, type.lastIndexOf(".")))
  );
}

function* httpFilters({
  httpFilters: filters,
}: {
  httpFilters: readonly Extension[];
}): Iterable<EnvoyFinding> {
  yield* lastOf(filters, "http_filters", {
    isTerminal: (type) => type === routerType,
    isPassing: isPassingHttp,
    hint: "the last one is envoy.filters.http.router",
  });
}

function* upstreamFilters({
  httpFilters: filters,
}: {
  httpFilters: readonly Extension[];
}): Iterable<EnvoyFinding> {
  yield* lastOf(filters, "http_filters", {
    isTerminal: (type) => type === codecType,
    isPassing: isPassingHttp,
    hint: "the last one is envoy.filters.http.upstream_codec",
  });
}

/** The order of filters; types that are not known here are left alone. */
function* lastOf(
  filters: readonly Extension[],
  field: string,
  kinds: {
    readonly isTerminal: (type: string) => boolean;
    readonly isPassing: (type: string) => boolean;
    readonly hint: string;
  },
): Iterable<EnvoyFinding> {
  const last = filters.length - 1;
  let isEnded = false;
  for (const [index, filter] of filters.entries()) {
    const type = typeOfExtension(filter) ?? "";
    if (index < last && kinds.isTerminal(type)) {
      isEnded = true;
      yield finding(
        [field, index],
        `${quote(filter.name)} ends the chain, but a filter follows it`,
        kinds.hint,
      );
    }
    if (index === last && !isEnded && kinds.isPassing(type))
      yield finding(
        [field, index],
        `${quote(filter.name)} is the last filter, but passes on what it gets`,
        kinds.hint,
      );
  }
}

function* codec(
  { codecType: type }: { codecType: number },
  { visited }: CheckScene,
): Iterable<EnvoyFinding> {
  const chain = closestMessage(visited, "envoy.config.listener.v3.FilterChain");
  if (chain === undefined) return;
  const { transportSocket } = chain.message.message as unknown as FilterChain;
  const socket = transportSocket && typeOfExtension(transportSocket);
  const isQuic = socket === "envoy.extensions.transport_sockets.quic.v3.QuicDownstreamTransport";
  if (type === http3 && !isQuic)
    yield finding(["codec_type"], "HTTP3 needs the transport socket quic of a UDP listener");
  if (isQuic && type !== http3)
    yield finding(["codec_type"], "a listener with QUIC needs codec_type HTTP3");
}

/** Each address has one listener. */
function* sameAddresses({ listeners }: { listeners: readonly Listener[] }): Iterable<EnvoyFinding> {
  const owners = new Map<string, number>();
  for (const [index, listener] of listeners.entries()) {
    const own = boundAddresses(listener);
    for (const [key, at] of own) {
      const owner = owners.get(key);
      // A listener of the same name takes the place of the earlier one.
      const isSame =
        owner === undefined ||
        owner === index ||
        (listener.name !== "" && listeners[owner]?.name === listener.name);
      if (!isSame)
        yield finding(
          ["listeners", index, ...at],
          `listeners[${owner}] has the same ${at.includes("pipe") ? "path" : "address and port"}`,
        );
      owners.set(key, owner ?? index);
    }
  }
}

/** The addresses of a listener in a form that is equal where they are, and the way to each. */
export function boundAddresses({
  address,
  additionalAddresses,
}: BoundListener): readonly (readonly [key: string, at: EnvoyFinding["at"]])[] {
  const all: readonly (readonly [at: EnvoyFinding["at"], address: Address | undefined])[] = [
    [["address"], address],
    ...additionalAddresses.map(
      (more, index) => [["additional_addresses", index, "address"], more.address] as const,
    ),
  ];
  return all.flatMap(([at, one]): ReturnType<typeof boundAddresses> => {
    if (one?.address.case === "pipe" && one.address.value !== undefined)
      return [[`pipe ${one.address.value.path}`, [...at, "pipe", "path"]]];
    const socket = one?.address.case === "socketAddress" ? one.address.value : undefined;
    const port = socket?.portSpecifier.value ?? 0;
    if (socket === undefined || port === 0) return [];
    const { protocol, address: host, networkNamespaceFilepath: space } = socket;
    const key = `${protocol} ${canonicalAddress(host)} ${port} ${space}`;
    return [[key, [...at, "socket_address", "port_value"]]];
  });
}
