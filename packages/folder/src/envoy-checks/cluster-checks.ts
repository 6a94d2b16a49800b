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
import { unpackAny } from "./visit-messages.ts";
import { addressFaults, type SocketAddress } from "./network-addresses.ts";

/** `DiscoveryType` of the Envoy API. */
const types = { static: 0, strictDns: 1, logicalDns: 2, eds: 3, originalDst: 4 } as const;
/** `LbPolicy` of the Envoy API. */
const clusterProvided = 6;

interface Address {
  readonly address: Oneof<SocketAddress>;
}

interface Assignment {
  readonly endpoints: readonly {
    readonly lbEndpoints: readonly {
      readonly hostIdentifier: Oneof<{
        readonly address?: Address;
        readonly additionalAddresses?: readonly { readonly address?: Address }[];
      }>;
    }[];
  }[];
}

interface Cluster {
  readonly clusterDiscoveryType: Oneof<number | Extension>;
  readonly edsClusterConfig?: { readonly edsConfig?: object };
  readonly loadAssignment?: Assignment;
  readonly lbPolicy: number;
  readonly loadBalancingPolicy?: object;
}

/** `LbPolicy` of the policies that have settings of their own in a cluster. */
const policies = { ringHash: 2, maglev: 5 } as const;

/** Returns true if a cluster does not use the policy that its settings are for. */
function isUnused({ visited }: CheckScene, policy: number): boolean {
  const above = visited.above?.message;
  if (above?.desc.typeName !== "envoy.config.cluster.v3.Cluster") return false;
  const { lbPolicy, loadBalancingPolicy } = above.message as unknown as Cluster;
  return lbPolicy !== policy || loadBalancingPolicy !== undefined;
}

/** The balancing that a type of cluster brings along, which no other policy may replace. */
const bringsPolicy: ReadonlySet<string> = new Set([
  "envoy.extensions.clusters.aggregate.v3.ClusterConfig",
  "envoy.extensions.clusters.dynamic_forward_proxy.v3.ClusterConfig",
  "envoy.extensions.clusters.original_dst.v3.OriginalDstConfig",
]);

/** Checks of clusters. */
export const clusterChecks: readonly EnvoyCheck[] = [
  envoyCheck("bad-cluster", "envoy.config.cluster.v3.Cluster", discovery),
  envoyCheck("bad-cluster", "envoy.config.cluster.v3.Cluster", resolverAddresses),
  envoyCheck("bad-cluster", "envoy.config.cluster.v3.Cluster", policyOfType),
  envoyCheck("bad-cluster", "envoy.config.cluster.v3.LoadBalancingPolicy", choices),
  envoyCheck("bad-cluster", "envoy.config.cluster.v3.Cluster.RingHashLbConfig", ringSizes),
  envoyCheck(
    "bad-cluster",
    "envoy.extensions.load_balancing_policies.ring_hash.v3.RingHash",
    ringSizes,
  ),
  envoyCheck("bad-cluster", "envoy.config.cluster.v3.Cluster.MaglevLbConfig", tableSize),
  envoyCheck("bad-cluster", "envoy.extensions.load_balancing_policies.maglev.v3.Maglev", tableSize),
  envoyCheck(
    "bad-cluster",
    "envoy.config.cluster.v3.Cluster.LbSubsetConfig.LbSubsetSelector",
    subsetKeys,
  ),
];

function* discovery(cluster: Cluster): Iterable<EnvoyFinding> {
  const { clusterDiscoveryType: type, edsClusterConfig, loadAssignment } = cluster;
  if (type.case === "clusterType") return;
  switch (type.value ?? types.static) {
    case types.static:
      yield* namesIn(loadAssignment);
      break;
    case types.strictDns:
      yield* resolversIn(loadAssignment);
      break;
    case types.logicalDns: {
      yield* resolversIn(loadAssignment);
      const endpoints = loadAssignment?.endpoints ?? [];
      if (endpoints.length !== 1 || endpoints[0]?.lbEndpoints.length !== 1)
        yield finding(
          loadAssignment === undefined ? ["type"] : ["load_assignment", "endpoints"],
          "a cluster of type LOGICAL_DNS needs exactly one endpoint",
          "use STRICT_DNS for more",
        );
      break;
    }
    case types.eds:
      if (edsClusterConfig?.edsConfig === undefined)
        yield finding(
          edsClusterConfig === undefined ? ["type"] : ["eds_cluster_config"],
          "a cluster of type EDS needs eds_cluster_config.eds_config",
        );
      break;
    case types.originalDst:
      if (loadAssignment !== undefined)
        yield finding(["type"], "a cluster of type ORIGINAL_DST has no load_assignment");
      break;
  }
}

/** The addresses of a static cluster that are names, or are missing. */
function* namesIn(assignment: Assignment | undefined): Iterable<EnvoyFinding> {
  for (const [locality, { lbEndpoints }] of (assignment?.endpoints ?? []).entries())
    for (const [index, { hostIdentifier }] of lbEndpoints.entries()) {
      const { address, additionalAddresses = [] } = hostIdentifier.value ?? {};
      const at = ["load_assignment", "endpoints", locality, "lb_endpoints", index, "endpoint"];
      if (address?.address === undefined)
        yield finding(
          hostIdentifier.case === "endpoint" ? at : at.slice(0, -1),
          "needs an endpoint with an address",
        );
      for (const [step, one] of [
        [["address"], address] as const,
        ...additionalAddresses.map(
          (more, number) => [["additional_addresses", number, "address"], more.address] as const,
        ),
      ])
        if (one?.address.case === "socketAddress" && one.address.value !== undefined)
          yield* addressFaults(
            one.address.value,
            [...at, ...step, "socket_address"],
            "a cluster of type STATIC",
            "set the type of the cluster to STRICT_DNS or LOGICAL_DNS",
          );
    }
}

/** Clusters that ask DNS have no resolver of their own. */
function* resolversIn(assignment: Assignment | undefined): Iterable<EnvoyFinding> {
  for (const [locality, { lbEndpoints }] of (assignment?.endpoints ?? []).entries())
    for (const [index, { hostIdentifier }] of lbEndpoints.entries()) {
      const address = hostIdentifier.value?.address?.address;
      if (address?.case !== "socketAddress" || (address.value?.resolverName ?? "") === "") continue;
      const at = ["load_assignment", "endpoints", locality, "lb_endpoints", index, "endpoint"];
      yield finding(
        [...at, "address", "socket_address", "resolver_name"],
        "cannot be set in a cluster that asks DNS",
      );
    }
}

interface Resolvers {
  readonly resolvers: readonly { readonly address: Address["address"] }[];
}

const caresType = "envoy.extensions.network.dns_resolver.cares.v3.CaresDnsResolverConfig";

/** The servers that a cluster with host names asks. */
function* resolverAddresses(
  {
    clusterDiscoveryType: type,
    dnsResolvers,
    dnsResolutionConfig,
    typedDnsResolverConfig,
  }: Pick<Cluster, "clusterDiscoveryType"> & {
    dnsResolvers: Resolvers["resolvers"];
    dnsResolutionConfig?: Resolvers;
    typedDnsResolverConfig?: Extension;
  },
  { registry }: CheckScene,
): Iterable<EnvoyFinding> {
  if (type.value !== types.strictDns && type.value !== types.logicalDns) return;
  const { typedConfig } = typedDnsResolverConfig ?? {};
  const config = typedConfig && unpackAny(typedConfig, registry);
  const cares =
    config?.desc.typeName === caresType ? (config.message as unknown as Resolvers) : undefined;
  for (const [at, list] of [
    [["dns_resolvers"], dnsResolvers],
    [["dns_resolution_config", "resolvers"], dnsResolutionConfig?.resolvers ?? []],
    [["typed_dns_resolver_config", "typed_config", "resolvers"], cares?.resolvers ?? []],
  ] as const)
    for (const [index, { address }] of list.entries()) {
      if (address.case !== "socketAddress" || address.value === undefined) continue;
      yield* addressFaults(
        address.value,
        [...at, index, "socket_address"],
        "a resolver of DNS",
        "the port has a field of its own",
      );
    }
}

function* choices({ policies: list }: { policies: readonly object[] }): Iterable<EnvoyFinding> {
  if (list.length === 0) yield finding([], "needs at least one of policies");
}

function* policyOfType({
  clusterDiscoveryType: type,
  lbPolicy,
  loadBalancingPolicy,
}: Cluster): Iterable<EnvoyFinding> {
  if (loadBalancingPolicy !== undefined) return;
  const extension = type.case === "clusterType" ? (type.value as Extension) : undefined;
  const typeName = extension && typeOfExtension(extension);
  // Types that are not known here are left alone.
  if (extension !== undefined && !bringsPolicy.has(typeName ?? "")) return;
  const brings = extension !== undefined || type.value === types.originalDst;
  if (brings === (lbPolicy === clusterProvided)) return;
  yield finding(
    ["lb_policy"],
    brings
      ? "this type of cluster needs lb_policy CLUSTER_PROVIDED"
      : "CLUSTER_PROVIDED is for types of clusters that bring their own load balancing",
    brings ? undefined : "choose another one, such as ROUND_ROBIN",
  );
}

interface RingSizes {
  readonly minimumRingSize?: bigint;
  readonly maximumRingSize?: bigint;
}

function* ringSizes(
  { minimumRingSize: least = 1024n, maximumRingSize: most = 8_388_608n }: RingSizes,
  scene: CheckScene,
): Iterable<EnvoyFinding> {
  if (isUnused(scene, policies.ringHash)) return;
  if (least > most)
    yield finding(
      ["minimum_ring_size"],
      `is ${least} (1024 where it is not set), which is more than maximum_ring_size, ${most}`,
    );
}

function* tableSize(
  { tableSize: size = 65_537n }: { tableSize?: bigint },
  scene: CheckScene,
): Iterable<EnvoyFinding> {
  if (isUnused(scene, policies.maglev)) return;
  if (!isPrime(Number(size)))
    yield finding(["table_size"], "must be a prime number", "the default is 65537");
}

/** Sizes of tables are at most 5,000,011. */
function isPrime(number: number): boolean {
  if (number < 2 || number > 5_000_011) return false;
  for (let factor = 2; factor * factor <= number; factor++) if (number % factor === 0) return false;
  return true;
}

/** `LbSubsetSelectorFallbackPolicy.KEYS_SUBSET` */
const keysSubset = 4;

function* subsetKeys({
  keys,
  fallbackPolicy,
  fallbackKeysSubset: fallback,
}: {
  keys: readonly string[];
  fallbackPolicy: number;
  fallbackKeysSubset: readonly string[];
}): Iterable<EnvoyFinding> {
  if (fallbackPolicy !== keysSubset) return;
  const own = new Set(keys);
  if (fallback.length === 0)
    yield finding(["fallback_policy"], "KEYS_SUBSET needs fallback_keys_subset");
  else if (fallback.some((key) => !own.has(key)) || new Set(fallback).size >= own.size)
    yield finding(["fallback_keys_subset"], "must be a part of keys, and not all of them");
}
