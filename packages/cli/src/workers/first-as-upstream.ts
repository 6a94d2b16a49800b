import type { AnyBootstrap, BootstrapNode } from "@xdstp/bootstrap";
import type { NamedLimits } from "../named-limits.ts";

const MOST = 0x7fff_ffff;

/** Returns the limits of the first process for its workers. A worker has already applied the limits of a client, and subscribes to everything for all of its clients on one stream, or on one stream for each tenant. */
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
    // A resource that is too large for the first process would not reach the workers, whatever their limits are.
    ...(responseBytes !== undefined && { responseBytes }),
  };
}

/** Returns the bootstrap of a worker, whose server is the first process. The node id has the number of the worker, so that the first process can distinguish the answers of its workers. */
export function firstAsUpstream(path: string, node: BootstrapNode, worker: number): AnyBootstrap {
  // The first process reports which resources do not exist. As long as it reports nothing, it does not know, for example because its own servers are unavailable; then the resource is not missing (C-GRPC-10).
  const features = new Set(["resource_timer_is_transient_error"]);
  return {
    servers: [{ uri: `unix:${path}`, credentials: { type: "insecure" }, features }],
    node: { ...node, id: `${node.id}/worker-${worker}` },
    authorities: new Map(),
    certificateProviders: new Map(),
  };
}
