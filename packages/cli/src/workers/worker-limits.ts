import type { ServerLimits } from "@xdstp/server";

const MOST = 0x7fff_ffff;

/** What the first takes from a worker: all that its clients want comes over one stream, and each of them is held to the limits of a client there. */
export const workerLimits: Partial<ServerLimits> = {
  subscriptions: MOST, globs: MOST, heldVersions: MOST, types: MOST, changeBurst: MOST, changesPerSecond: MOST,
  maxMessageBytes: MOST, maxFirstMessageBytes: MOST, maxPartialBytes: MOST, maxQueuedBytes: MOST,
};
