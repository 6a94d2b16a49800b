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
