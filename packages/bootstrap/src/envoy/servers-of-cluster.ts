import { Cluster_DiscoveryType as DiscoveryType, type Cluster } from "@xdstp/protos/envoy/cluster";
import { HealthStatus, type Address } from "@xdstp/protos/envoy/core";
import type { ClusterLoadAssignment } from "@xdstp/protos/envoy/endpoint";
import { fromBinary } from "@bufbuild/protobuf";
import { envoyRegistry } from "@xdstp/protos/envoy";

import type { BootstrapServer } from "../grpc/bootstrap.ts";
import { inside, type Place, unsupportedAt, wrongAt } from "../grpc/place.ts";
import { credentialsOfCluster } from "./credentials-of-cluster.ts";

/** Discovery types whose addresses are in the bootstrap. */
const types: ReadonlySet<DiscoveryType> = new Set([
  DiscoveryType.STATIC,
  DiscoveryType.STRICT_DNS,
  DiscoveryType.LOGICAL_DNS,
]);
const away: ReadonlySet<HealthStatus> = new Set([
  HealthStatus.UNHEALTHY,
  HealthStatus.DRAINING,
  HealthStatus.TIMEOUT,
]);

/**
 * Returns the servers of a static cluster of an Envoy bootstrap: its addresses by priority, each a
 * server. Load balancing and tuning are ignored, since there is one stream.
 * @param use - The protocol: gRPC needs a cluster with HTTP/2, REST does not
 */
export function serversOfCluster(
  cluster: Cluster,
  place: Place,
  use: "grpc" | "rest",
): readonly BootstrapServer[] {
  checkType(cluster, place);
  if (use === "grpc") checkHttp2(cluster, place);
  const servers = addressesOf(cluster.loadAssignment, inside(place, "load_assignment")).map(
    ([address, at]) => {
      const { host, uri } = targetOf(address, at);
      return {
        uri,
        credentials: credentialsOfCluster(cluster, place, host),
        features: new Set<string>(),
      };
    },
  );
  if (servers.length === 0)
    throw wrongAt(place, "has no address; give load_assignment.endpoints with one");
  return servers;
}

function checkType({ clusterDiscoveryType: { case: kind, value } }: Cluster, place: Place): void {
  if (kind === undefined || (kind === "type" && types.has(value))) return;
  throw unsupportedAt(
    inside(place, kind === "type" ? kind : "cluster_type"),
    "has no addresses in the bootstrap; a cluster that leads to management servers is STATIC, STRICT_DNS or LOGICAL_DNS",
  );
}

function addressesOf(
  assignment: ClusterLoadAssignment | undefined,
  place: Place,
): readonly (readonly [Address | undefined, Place])[] {
  const localities = (assignment?.endpoints ?? []).map((locality, index) => ({
    ...locality,
    at: inside(place, "endpoints", index),
  }));
  return localities
    .sort((a, b) => a.priority - b.priority)
    .flatMap(({ lbEndpoints, at }) =>
      lbEndpoints.flatMap(({ hostIdentifier, healthStatus }, index) => {
        const spot = inside(at, "lb_endpoints", index);
        if (hostIdentifier.case !== "endpoint")
          throw unsupportedAt(spot, "has no endpoint with an address");
        return away.has(healthStatus)
          ? []
          : [[hostIdentifier.value.address, inside(spot, "endpoint", "address")] as const];
      }),
    );
}

/**
 * Returns the target in the syntax of gRPC, and the host that the certificate of the server has to
 * match.
 */
function targetOf(
  address: Address | undefined,
  place: Place,
): { readonly uri: string; readonly host: string } {
  const { case: kind, value } = address?.address ?? { case: undefined };
  if (kind === "pipe") return { uri: `unix:${value.path}`, host: "localhost" };
  if (kind !== "socketAddress")
    throw unsupportedAt(place, "is none that can be connected to; give socket_address or pipe");
  const {
    address: host,
    portSpecifier: { case: portKind, value: port },
  } = value;
  if (host === "") throw wrongAt(inside(place, "socket_address"), "has no address");
  if (portKind !== "portValue" || port === 0)
    throw wrongAt(
      inside(place, "socket_address"),
      "has no port_value; give a port from 1 to 65535",
    );
  return { uri: `${host.includes(":") ? `[${host}]` : host}:${port}`, host };
}

const name = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";

/** The part of `HttpProtocolOptions` that is read. */
interface HttpProtocolOptions {
  readonly upstreamProtocolOptions: {
    readonly case?: string;
    readonly value?: { readonly protocolConfig?: { readonly case?: string } };
  };
}

/**
 * Throws for a cluster that Envoy would use with HTTP/1. gRPC needs HTTP/2, so the cluster is not
 * for management servers, or would not work as one.
 */
function checkHttp2(cluster: Cluster, place: Place): void {
  const any = cluster.typedExtensionProtocolOptions[name];
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- Envoy's API deprecates the field, but existing bootstraps still set it
  if (cluster.http2ProtocolOptions !== undefined || (any !== undefined && isHttp2(any.value)))
    return;
  throw wrongAt(
    place,
    "does not speak HTTP/2, which gRPC needs; add typed_extension_protocol_options with explicit_http_config: {http2_protocol_options: {}}",
  );
}

function isHttp2(bytes: Uint8Array): boolean {
  const schema = envoyRegistry().getMessage(name);
  if (schema === undefined) return false;
  const {
    upstreamProtocolOptions: { case: kind, value },
  } = fromBinary(schema, bytes) as unknown as HttpProtocolOptions;
  return (
    kind === "autoConfig" ||
    (kind === "explicitHttpConfig" && value?.protocolConfig?.case === "http2ProtocolOptions")
  );
}
