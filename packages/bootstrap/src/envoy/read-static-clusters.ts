import { ClusterSchema } from "@xdstp/protos/envoy/cluster";

import type { BootstrapServer, JsonObject, JsonValue } from "../grpc/bootstrap.ts";
import { asArray, asObject, items, type Placed } from "../grpc/place.ts";
import type { StaticClusters } from "./config-source.ts";
import { readMessage } from "./read-message.ts";
import { serversOfCluster } from "./servers-of-cluster.ts";

/** Resolves static clusters by name. A cluster is read when it is needed, so the others may be of any kind. */
export function readStaticClusters(json: Placed<JsonValue> | undefined): StaticClusters {
  const clusters: readonly Placed<JsonObject>[] =
    json === undefined ? [] : items(asArray(json)).map(asObject);
  const read = new Map<string, readonly BootstrapServer[]>();
  return (name) => {
    const cluster = clusters.find(({ value }) => value.name === name);
    if (cluster === undefined) return undefined;
    const servers =
      read.get(name) ?? serversOfCluster(readMessage(ClusterSchema, cluster), cluster.place);
    read.set(name, servers);
    return servers;
  };
}
