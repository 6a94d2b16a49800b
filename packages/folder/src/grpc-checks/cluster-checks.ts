import {
  type EnvoyCheck,
  envoyCheck,
  type EnvoyFinding,
  type Extension,
  finding,
  type Oneof,
  typeOfExtension,
} from "../envoy-checks/envoy-check.ts";
import { quote } from "../folder-problem.ts";
import { type ConfigSource, isOwnStream } from "./config-source.ts";

const code = "rejected-by-grpc";

/** Checks of clusters for gRPC clients. */
export const grpcClusterChecks: readonly EnvoyCheck[] = [
  envoyCheck(code, "envoy.config.cluster.v3.Cluster", discovery),
  envoyCheck(code, "envoy.config.cluster.v3.Cluster", balancing),
  envoyCheck(code, "envoy.config.cluster.v3.Cluster", security),
  envoyCheck(code, "envoy.config.cluster.v3.LoadBalancingPolicy", policiesOfEnvoy),
  envoyCheck(code, "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext", authorities),
  envoyCheck(code, "envoy.config.cluster.v3.OutlierDetection", outliers),
];

/** `DiscoveryType` of the Envoy API. */
const types = { logicalDns: 2, eds: 3 } as const;
/** `LbPolicy` of the Envoy API. */
const policies = { roundRobin: 0, leastRequest: 1, ringHash: 2 } as const;
/** `RingHashLbConfig.HashFunction` of the Envoy API. */
const xxHash = 0;
/** gRFC A42. */
const largestRing = 8_388_608n;

interface Endpoint {
  readonly hostIdentifier: Oneof<{
    readonly address?: {
      readonly address: Oneof<{ readonly address: string; readonly resolverName: string }>;
    };
  }>;
}

interface Cluster {
  readonly name: string;
  readonly clusterDiscoveryType: Oneof<number | Extension>;
  readonly edsClusterConfig?: { readonly edsConfig?: ConfigSource; readonly serviceName: string };
  readonly loadAssignment?: {
    readonly endpoints: readonly { readonly lbEndpoints: readonly Endpoint[] }[];
  };
  readonly lbPolicy: number;
  readonly lbConfig: Oneof<{
    readonly hashFunction?: number;
    readonly minimumRingSize?: bigint;
    readonly maximumRingSize?: bigint;
    readonly choiceCount?: number;
  }>;
  readonly loadBalancingPolicy?: object;
  readonly transportSocket?: Extension;
  readonly lrsServer?: ConfigSource;
}

const aggregate = "envoy.extensions.clusters.aggregate.v3.ClusterConfig";

/** gRFC A27 and A37. */
function* discovery(cluster: Cluster): Iterable<EnvoyFinding> {
  const { clusterDiscoveryType: way, lrsServer } = cluster;
  if (way.case === "clusterType") {
    const type = typeOfExtension(way.value as Extension);
    if (type !== aggregate)
      yield finding(
        ["cluster_type"],
        "is not one that gRPC has",
        "gRPC has EDS, LOGICAL_DNS and envoy.clusters.aggregate",
      );
  } else if (way.value === types.eds) yield* endpointSource(cluster);
  else if (way.value === types.logicalDns) yield* dns(cluster);
  else
    yield finding(
      way.case === undefined ? [] : ["type"],
      "is not a type of cluster that gRPC has",
      "gRPC has EDS, LOGICAL_DNS and envoy.clusters.aggregate",
    );
  if (lrsServer !== undefined && lrsServer.configSourceSpecifier.case !== "self")
    yield finding(["lrs_server"], "has to be { self: {} }");
}

function* endpointSource({ name, edsClusterConfig }: Cluster): Iterable<EnvoyFinding> {
  if (!isOwnStream(edsClusterConfig?.edsConfig))
    yield finding(
      edsClusterConfig === undefined ? [] : ["eds_cluster_config"],
      "has no source of endpoints that is the stream of the client",
      "set eds_cluster_config.eds_config to { ads: {} } or { self: {} }",
    );
  if (name.startsWith("xdstp:") && (edsClusterConfig?.serviceName ?? "") === "")
    yield finding(
      edsClusterConfig === undefined ? [] : ["eds_cluster_config"],
      "has no service_name, which gRPC needs in a cluster with an xdstp name",
    );
}

function* dns({ loadAssignment }: Cluster): Iterable<EnvoyFinding> {
  const [locality, ...more] = loadAssignment?.endpoints ?? [];
  const [endpoint, ...others] = locality?.lbEndpoints ?? [];
  if (endpoint === undefined || more.length > 0 || others.length > 0) {
    yield finding(
      loadAssignment === undefined ? [] : ["load_assignment"],
      "has to have one locality with one endpoint, as the type is LOGICAL_DNS",
    );
    return;
  }
  const identifier =
    endpoint.hostIdentifier.case === "endpoint" ? endpoint.hostIdentifier : undefined;
  const address = identifier?.value?.address?.address;
  const at = ["load_assignment", "endpoints", 0, "lb_endpoints", 0] as const;
  if (address?.case !== "socketAddress")
    yield finding(at, "has no socket_address, in which gRPC looks for the name");
  else if ((address.value?.resolverName ?? "") !== "")
    yield finding(
      [...at, "endpoint", "address", "socket_address", "resolver_name"],
      "has to be empty",
    );
}

/** gRFC A27, A42 and A48. A `load_balancing_policy` replaces the others. */
function* balancing(cluster: Cluster): Iterable<EnvoyFinding> {
  const { lbPolicy, lbConfig, loadBalancingPolicy } = cluster;
  if (loadBalancingPolicy !== undefined) return;
  if (!Object.values<number>(policies).includes(lbPolicy)) {
    yield finding(
      ["lb_policy"],
      "is not one that gRPC has",
      "gRPC has ROUND_ROBIN, RING_HASH and LEAST_REQUEST, and more in load_balancing_policy",
    );
    return;
  }
  if (lbPolicy !== policies.ringHash || lbConfig.case !== "ringHashLbConfig") return;
  const { hashFunction = xxHash, minimumRingSize, maximumRingSize } = lbConfig.value ?? {};
  const at = "ring_hash_lb_config";
  if (hashFunction !== xxHash) yield finding([at, "hash_function"], "has to be XX_HASH for gRPC");
  for (const [field, size] of [
    ["minimum_ring_size", minimumRingSize],
    ["maximum_ring_size", maximumRingSize],
  ] as const)
    if (size !== undefined && size > largestRing)
      yield finding([at, field], `is more than ${largestRing}, the most that gRPC takes`);
  if (
    minimumRingSize !== undefined &&
    maximumRingSize !== undefined &&
    minimumRingSize > maximumRingSize
  )
    yield finding([at, "minimum_ring_size"], "is more than maximum_ring_size");
}

const tls = "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext";

/** gRFC A29. */
function* security({ transportSocket }: Cluster): Iterable<EnvoyFinding> {
  if (transportSocket === undefined) return;
  const type = typeOfExtension(transportSocket);
  if (type !== undefined && type !== tls && !type.endsWith(".Http11ProxyUpstreamTransport"))
    yield finding(
      ["transport_socket"],
      `${quote(type)} is not a transport socket that gRPC has`,
      `gRPC has ${tls}`,
    );
}

interface Validation {
  readonly caCertificateProviderInstance?: object;
  readonly systemRootCerts?: object;
}

interface TlsContext {
  readonly commonTlsContext?: {
    readonly tlsParams?: object;
    readonly validationContextType: Oneof<
      Validation & {
        readonly defaultValidationContext?: Validation;
        readonly validationContextCertificateProviderInstance?: object;
      }
    >;
  };
}

/** gRFC A29 and A82: authorities are those of the bootstrap of the client, or of its machine. */
function* authorities({ commonTlsContext: context }: TlsContext): Iterable<EnvoyFinding> {
  const at = context === undefined ? [] : ["common_tls_context"];
  if (context?.tlsParams !== undefined) yield finding([...at, "tls_params"], "must not be set");
  const { case: form, value } = context?.validationContextType ?? { case: undefined };
  const validation = form === "combinedValidationContext" ? value?.defaultValidationContext : value;
  const isKnown =
    form === "validationContextCertificateProviderInstance" ||
    value?.validationContextCertificateProviderInstance !== undefined ||
    validation?.caCertificateProviderInstance !== undefined ||
    validation?.systemRootCerts !== undefined;
  if (!isKnown)
    yield finding(
      at,
      "has no authority that gRPC can use",
      "set validation_context.ca_certificate_provider_instance to a provider of the client's bootstrap",
    );
}

/** The policies that no gRPC library has. */
const unknownPolicies: ReadonlySet<string | undefined> = new Set(
  ["maglev.v3.Maglev", "random.v3.Random", "subset.v3.Subset"].map(
    (name) => `envoy.extensions.load_balancing_policies.${name}`,
  ),
);

/** gRFC A52: the first policy that a client has is taken. */
function* policiesOfEnvoy({
  policies: list,
}: {
  readonly policies: readonly { readonly typedExtensionConfig?: Extension }[];
}): Iterable<EnvoyFinding> {
  const areUnknown = list.every(
    ({ typedExtensionConfig: one }) =>
      one !== undefined && unknownPolicies.has(typeOfExtension(one)),
  );
  if (list.length > 0 && areUnknown)
    yield finding(
      ["policies"],
      "has no policy that gRPC has",
      "gRPC has round_robin, ring_hash, least_request, pick_first and client_side_weighted_round_robin",
    );
}

interface Duration {
  readonly seconds: bigint;
  readonly nanos: number;
}

type OutlierDetection = Readonly<Record<string, unknown>>;

const durations = {
  interval: "interval",
  baseEjectionTime: "base_ejection_time",
  maxEjectionTime: "max_ejection_time",
} as const;
const percentages = {
  maxEjectionPercent: "max_ejection_percent",
  enforcingSuccessRate: "enforcing_success_rate",
  failurePercentageThreshold: "failure_percentage_threshold",
  enforcingFailurePercentage: "enforcing_failure_percentage",
} as const;

/** gRFC A50. */
function* outliers(one: OutlierDetection): Iterable<EnvoyFinding> {
  for (const [key, field] of Object.entries(durations)) {
    const value = one[key] as Duration | undefined;
    if (value !== undefined && (value.seconds < 0n || value.nanos < 0))
      yield finding([field], "must not be negative");
  }
  for (const [key, field] of Object.entries(percentages)) {
    const value = one[key] as number | undefined;
    if (value !== undefined && value > 100) yield finding([field], "must not be more than 100");
  }
}
