import { create, toBinary } from "@bufbuild/protobuf";
import { createNodeCaches, type NodeCaches, nodeField } from "@xdstp/cache";
import { ClusterSchema } from "@xdstp/protos/envoy/cluster";
import { cluster, envoyTypes } from "@xdstp/resource-types";
import { createServer, type XdsServer } from "@xdstp/server";

/** A control plane that gives each tier of clients its own clusters. */
export interface TierServer extends AsyncDisposable {
  readonly uri: string;
  readonly server: XdsServer;
  readonly nodes: NodeCaches;
}

/** Starts it on a free port of loopback. The tier of a client is `metadata.tier` of its node. */
export async function startTierServer(): Promise<TierServer> {
  const nodes = createNodeCaches({ types: envoyTypes, keyOf: nodeField("metadata.tier") });
  const server = createServer({ ...nodes.serving, controlPlane: "tiers" });
  const { host, port } = await server.listen({ host: "127.0.0.1", port: 0 });
  return {
    uri: `${host}:${String(port)}`,
    server,
    nodes,
    async [Symbol.asyncDispose]() {
      await server.close({ graceMs: 0 });
      await nodes.close();
    },
  };
}

/** A cluster that says which edition of it this is. */
export function clusterOf(
  name: string,
  edition: string,
): { readonly typeUrl: string; readonly name: string; readonly value: Uint8Array } {
  return {
    typeUrl: cluster.typeUrl,
    name,
    value: toBinary(ClusterSchema, create(ClusterSchema, { name, altStatName: edition })),
  };
}
