import type { StreamStatus, TypeStatus } from "@xdstp/protocol/server";

/** Returns the status of a type as a server reports it. By default, everything was sent and accepted. */
export function typeStatus(more: Partial<TypeStatus> = {}): TypeStatus {
  return {
    typeUrl: "type.googleapis.com/envoy.config.cluster.v3.Cluster",
    state: "SYNCED",
    subscriptions: 1,
    wildcard: true,
    versionSent: "2",
    nonceSent: "2",
    versionAccepted: "2",
    nonceAccepted: "2",
    stuck: false,
    nacks: 0,
    ...more,
  };
}

/** Returns the status of a stream as a server reports it. */
export function streamStatus(
  id: number,
  types: readonly TypeStatus[],
  node = `n${id}`,
): StreamStatus {
  return {
    id,
    variant: "delta",
    peer: `127.0.0.1:${id}`,
    connectedAt: 0,
    types,
    node: {
      id: node,
      cluster: "",
      userAgentName: "",
      userAgentVersion: "",
      locality: "",
      clientFeatures: [],
    },
  };
}
