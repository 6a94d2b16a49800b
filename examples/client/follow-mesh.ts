import type { Client } from "@xdstp/client";

import { walkGreeter } from "./walk-greeter.ts";
import { watchCluster } from "./watch-cluster.ts";
import { watchEndpoints } from "./watch-endpoints.ts";

/** Follows what the example mesh serves, until it is told to stop: then it rejects with the reason of the signal. */
export async function followMesh(
  client: Client,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const as =
    (word: string) =>
    (text: string): void => {
      say(`${word.padEnd(18)} ${text}`);
    };
  await Promise.all([
    watchCluster(
      client,
      "xdstp://mesh.example/envoy.config.cluster.v3.Cluster/blue",
      as("cluster blue"),
      signal,
    ),
    watchEndpoints(
      client,
      "xdstp://mesh.example/envoy.config.endpoint.v3.ClusterLoadAssignment/*",
      as("endpoints"),
      signal,
    ),
    walkGreeter(
      client,
      "xdstp://mesh.example/envoy.config.listener.v3.Listener/greeter",
      as("greeter"),
      signal,
    ),
  ]);
}
