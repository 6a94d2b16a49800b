import type { Client, Configuration } from "@xdstp/client";
import { ClusterSchema } from "@xdstp/protos/envoy/cluster";
import { ClusterLoadAssignmentSchema } from "@xdstp/protos/envoy/endpoint";
import { type Listener, ListenerSchema } from "@xdstp/protos/envoy/listener";
import { type RouteConfiguration, RouteConfigurationSchema } from "@xdstp/protos/envoy/route";

const types = {
  routes: RouteConfigurationSchema,
  clusters: ClusterSchema,
  endpoints: ClusterLoadAssignmentSchema,
};

/** Follows a listener with its routes, their clusters and the endpoints of these: what a configuration names, it has. */
export async function walkGreeter(
  client: Client,
  name: string,
  say: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  for await (const configuration of client.walk(ListenerSchema, name, { types, signal })) {
    if (configuration.root !== undefined) say(sharesOf(configuration));
    for (const { name: waited, error } of configuration.pending)
      say(`waits for ${waited}: ${error?.text ?? "not there yet"}`);
  }
}

function sharesOf({ parts }: Configuration<Listener, typeof types>): string {
  const weights = [...parts.routes.values()].flatMap(({ value }) => weightsOf(value));
  const total = weights.reduce((sum, { weight }) => sum + weight, 0);
  return weights
    .map(
      ({ cluster, weight }) =>
        `${String(Math.round((100 * weight) / total))} % ${cluster.slice(cluster.lastIndexOf("/") + 1)} at ${addressOf(parts, cluster)}`,
    )
    .join(", ");
}

function weightsOf(
  routes: RouteConfiguration,
): readonly { readonly cluster: string; readonly weight: number }[] {
  return routes.virtualHosts
    .flatMap((host) => host.routes)
    .flatMap(({ action }) => {
      if (action.case !== "route" || action.value.clusterSpecifier.case !== "weightedClusters")
        return [];
      return action.value.clusterSpecifier.value.clusters.map(({ name, weight }) => ({
        cluster: name,
        weight: weight ?? 0,
      }));
    });
}

function addressOf(
  { clusters, endpoints }: Configuration<Listener, typeof types>["parts"],
  cluster: string,
): string {
  const assignment = endpoints.get(
    clusters.get(cluster)?.value.edsClusterConfig?.serviceName ?? "",
  )?.value;
  const [first] = assignment?.endpoints.flatMap(({ lbEndpoints }) => lbEndpoints) ?? [];
  const address =
    first?.hostIdentifier.case === "endpoint"
      ? first.hostIdentifier.value.address?.address
      : undefined;
  if (address?.case !== "socketAddress") return "nowhere";
  return `${address.value.address}:${String(address.value.portSpecifier.value ?? 0)}`;
}
