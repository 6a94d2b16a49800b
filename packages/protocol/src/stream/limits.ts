/** The limits of a stream: sizes, times and counts. */
export interface StreamLimits {
  /**
   * The size of one response in bytes; a larger one is sent in parts (S-SIZE-1, S-SIZE-2). Default:
   * 4 MiB less 64 KiB, since gRPC clients accept 4 MiB by default. A state of any size can be sent
   * in parts.
   */
  readonly responseBytes: number;
  /**
   * The size in bytes of one full-state SotW response, which cannot be split (S-SIZE-3). Default:
   * 64 MiB, enough for a state of 50 MB. Envoy accepts a response of any size.
   */
  readonly fullStateBytes: number;
  /**
   * Milliseconds without an answer after which the newest state is sent, if it has changed since
   * (S-ACK-16). Default: 5,000. The stream is not ended: a client that answers late is sent the
   * newest state again.
   */
  readonly repairMs: number;
  /**
   * Milliseconds that a resource waits for what it refers to, a type for the answer to another one,
   * or a removal for the resources that refer to it (S-ORD-4). Default: 15,000, since an Envoy that
   * warms a cluster answers within 15 s. The stream is not ended.
   */
  readonly orderMs: number;
  /**
   * Milliseconds without an answer after which a client is reported as stuck (S-ACK-17). Default:
   * 30,000. The stream is not ended: the client is shown and counted.
   */
  readonly stuckMs: number;
  /**
   * Milliseconds without an answer after which a stream is ended. Default: `Infinity`, since an
   * Envoy that waits for warming would not answer on a new stream either (S-ACK-17).
   */
  readonly endStuckMs: number;
  /**
   * Milliseconds that a SotW client without a version waits for a full-state type to settle
   * (S-STREAM-9). Default: 10,000. After that time it is sent the resources that are known.
   */
  readonly settleMs: number;
  /**
   * The number of UTF-16 units of a NACK text that are stored (S-ACK-15). Default: 4,096. A longer
   * text is shortened, and the NACK counts.
   */
  readonly errorText: number;
  /**
   * Names, globs and `*` of one type on one stream (S-LIM-4). Default: 100,000, enough for an Envoy
   * with 50,000 clusters that requests the endpoints of each by name.
   */
  readonly subscriptions: number;
  /**
   * Names, globs and `*` of all types on one stream (S-LIM-4). Default: 200,000, enough for an
   * Envoy that requests 50,000 endpoints and the same number of secrets or routes.
   */
  readonly streamSubscriptions: number;
  /**
   * The total length of these names in UTF-16 units (S-LIM-4). Default: 67,108,864, enough for
   * 200,000 names of 300 characters.
   */
  readonly streamNameLength: number;
  /**
   * Globs of one type on one stream (S-LIM-4). Default: 1,000. An Envoy subscribes to one glob of a
   * type for each authority, and a relay to those of all its clients.
   */
  readonly globs: number;
  /**
   * Names of one type that a delta client may list with their versions when it connects (S-LIM-4).
   * Default: 200,000, enough for an Envoy with 100,000 clusters or 100,000 names of endpoints that
   * reconnects.
   */
  readonly heldVersions: number;
  /**
   * The length of one name in bytes of UTF-8 (S-LIM-4). Default: 2,048. The names of the clusters
   * of a mesh have up to 300.
   */
  readonly nameLength: number;
  /**
   * Context parameters of one name (S-LIM-4). Default: 32. An Envoy adds one for each field of its
   * node that its bootstrap names, which are about ten.
   */
  readonly parameters: number;
  /**
   * The length in UTF-16 units of everything that is stored of a node. Default: 16,384. Extensions
   * and metadata, which in an Envoy may have hundreds of kilobytes, do not count.
   */
  readonly nodeLength: number;
  /** Types on one stream (S-LIM-4). Default: 64. An Envoy requests about a dozen. */
  readonly types: number;
  /**
   * Changes of subscriptions that one stream may make at once (S-LIM-2). A list costs one more for
   * each 1,000 names. Default: 1,000. An Envoy that requests 50,000 endpoints in one list pays 51;
   * one that requests each in a request of its own is read more slowly.
   */
  readonly changeBurst: number;
  /**
   * Changes of subscriptions per second of one stream, once the burst is used up; the stream is
   * then read at that rate (S-LIM-2). Default: 100. The stream is slowed, not ended.
   */
  readonly changesPerSecond: number;
  /**
   * The number of changes that a NACK counts as (S-LIM-2). Default: 10: a client that rejects
   * responses may send ten NACKs per second.
   */
  readonly nackCost: number;
}

/** The default limits of a stream: bytes, milliseconds and counts, as {@link StreamLimits} describes them. */
export const defaultLimits: StreamLimits = {
  responseBytes: (4 << 20) - (64 << 10),
  fullStateBytes: 64 << 20,
  repairMs: 5_000,
  orderMs: 15_000,
  stuckMs: 30_000,
  endStuckMs: Infinity,
  settleMs: 10_000,
  errorText: 4_096,
  subscriptions: 100_000,
  streamSubscriptions: 200_000,
  streamNameLength: 64 << 20,
  globs: 1_000,
  heldVersions: 200_000,
  nameLength: 2_048,
  parameters: 32,
  nodeLength: 16_384,
  types: 64,
  changeBurst: 1_000,
  changesPerSecond: 100,
  nackCost: 10,
};

/** The number of times that each limit of the streams was reached. */
export interface LimitCounts {
  /** Counts that a limit was reached. */
  count(limit: keyof StreamLimits): void;
  /** The number of times that each limit was reached. A limit that never was is absent. */
  readonly counts: Readonly<Partial<Record<keyof StreamLimits, number>>>;
}

/** Creates counts that are all zero. */
export function createLimitCounts(): LimitCounts {
  const counts: Partial<Record<keyof StreamLimits, number>> = {};
  return {
    counts,
    count(limit) {
      counts[limit] = (counts[limit] ?? 0) + 1;
    },
  };
}
