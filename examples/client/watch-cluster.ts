import type { Client } from "@xdstp/client";
import { type Cluster, Cluster_DiscoveryType, ClusterSchema } from "@xdstp/protos/envoy/cluster";

/** Follows one cluster. What waits too long for a connection is rejected: the control plane is told why, and what was held stays. */
export async function watchCluster(
  client: Client,
  name: string,
  say: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const validate = (cluster: Cluster): string | undefined =>
    secondsOf(cluster) > 10 ? "a connection may take 10 s at most" : undefined;
  for await (const { value, version, error } of client.watch(ClusterSchema, name, {
    validate,
    signal,
  })) {
    if (value === undefined) say(`is not there: ${String(error?.text)}`);
    else if (error === undefined) say(`${describe(value)} (version ${version.slice(0, 8)})`);
    else say(`still ${describe(value)}: ${error.text}`);
  }
}

function describe(cluster: Cluster): string {
  const { case: kind, value } = cluster.clusterDiscoveryType;
  const types = Object.entries(Cluster_DiscoveryType).flatMap(([type, number]) =>
    kind === "type" && number === value ? type : [],
  );
  return `${types[0] ?? "of a type of its own"}, waits ${String(secondsOf(cluster))} s for a connection`;
}

function secondsOf({ connectTimeout }: Cluster): number {
  return Number(connectTimeout?.seconds ?? 5n);
}
