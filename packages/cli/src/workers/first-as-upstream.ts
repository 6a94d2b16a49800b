import type { AnyBootstrap, BootstrapNode } from "@xdstp/bootstrap";
import type { NamedLimits } from "../named-limits.ts";

const MOST = 0x7fff_ffff;

/** Limits of the first process on its workers. A worker has already checked its clients by the limits of a client, and subscribes to everything that they need over one stream, or over one for each tenant. */
export function workerLimits({ responseBytes }: NamedLimits): NamedLimits {
  return {
    subscriptions: MOST,
    streamSubscriptions: MOST,
    streamNameLength: MOST,
    globs: MOST,
    heldVersions: MOST,
    types: MOST,
    changeBurst: MOST,
    changesPerSecond: MOST,
    nameLength: MOST,
    parameters: MOST,
    nodeLength: MOST,
    maxStreams: MOST,
    maxStreamsPerPeer: MOST,
    maxStreamsPerConnection: MOST,
    firstSyncs: MOST,
    maxMessageBytes: MOST,
    maxFirstMessageBytes: MOST,
    maxPartialBytes: MOST,
    maxQueuedBytes: MOST,
    // A resource that is too large for the first would not reach the workers, whatever they allow.
    ...(responseBytes !== undefined && { responseBytes }),
  };
}

/** Whom a worker asks, and as whom: the first, which tells the answers of one worker from those of another by its node. */
export function firstAsUpstream(path: string, node: BootstrapNode, worker: number): AnyBootstrap {
  // The first says what does not exist. As long as it says nothing it does not know, as when its own servers are away: that is not an answer (C-GRPC-10).
  const features = new Set(["resource_timer_is_transient_error"]);
  return {
    servers: [{ uri: `unix:${path}`, credentials: { type: "insecure" }, features }],
    node: { ...node, id: `${node.id}/worker-${worker}` },
    authorities: new Map(),
    certificateProviders: new Map(),
  };
}
