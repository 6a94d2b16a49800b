/** Sizes and times of the state machines. */
export interface StreamLimits {
  /** Bytes of one response that can be split; a larger one is sent in parts (S-SIZE-1, S-SIZE-2). Default: 4 MiB less 64 KiB, since gRPC clients accept 4 MiB by default. A state of any size is sent in parts. */
  readonly responseBytes: number;
  /** Bytes of one full-state SotW response, which cannot be split (S-SIZE-3). Default: 64 MiB. Room: a state of 50 MB. Envoy accepts a response of any size. */
  readonly fullStateBytes: number;
  /** Milliseconds without an answer after which the newest state is sent again, if it has changed (S-ACK-16). Default: 5,000. It does not end a stream: a client that answers later is sent the newest state again. */
  readonly repairMs: number;
  /** Milliseconds that a resource waits for what it refers to, a type for the answer to another, or a removal for those who refer to it (S-ORD-4). Default: 15,000. Room: an Envoy that warms a cluster answers within 15 s. It does not end a stream. */
  readonly orderMs: number;
  /** Milliseconds without an answer after which a client is shown as stuck (S-ACK-17). Default: 30,000. It does not end a stream: the client is shown and counted. */
  readonly stuckMs: number;
  /** Milliseconds without an answer after which a stream is ended. Default: never, since an Envoy that waits for warming would not answer on a new stream either (S-ACK-17). */
  readonly endStuckMs: number;
  /** Milliseconds that a SotW client without a version waits for a full-state type to settle (S-STREAM-9). Default: 10,000. Then the client is sent the resources that are known. */
  readonly settleMs: number;
  /** Characters of a NACK text that are kept (S-ACK-15). Default: 4,096. A longer text is shortened, and the NACK counts. */
  readonly errorText: number;
  /** Names, globs and `*` of one type on one stream (S-LIM-4). Default: 100,000. Room: an Envoy with 50,000 clusters asks for the endpoints of each by name. */
  readonly subscriptions: number;
  /** Names, globs and `*` of all types on one stream (S-LIM-4). Default: 200,000. Room: an Envoy that asks for 50,000 endpoints and for as many secrets or routes. */
  readonly streamSubscriptions: number;
  /** UTF-16 units of all these names together (S-LIM-4). Default: 67,108,864. Room: 200,000 names of 300 characters. */
  readonly streamNameLength: number;
  /** Globs of one type on one stream (S-LIM-4). Default: 1,000. Room: an Envoy subscribes to one glob of a type for each authority, and a relay to those of all its clients. */
  readonly globs: number;
  /** Names with a version that a delta client may list as held, of one type (S-LIM-4). Default: 200,000. Room: an Envoy with 100,000 clusters, or 100,000 names of endpoints, that reconnects. */
  readonly heldVersions: number;
  /** Bytes of one name in UTF-8 (S-LIM-4). Default: 2,048. Room: names of clusters of a mesh have up to 300. */
  readonly nameLength: number;
  /** Context parameters of one name (S-LIM-4). Default: 32. Room: an Envoy adds one for each field of its node that its bootstrap names, of which there are about ten. */
  readonly parameters: number;
  /** UTF-16 units of all that is kept of a node. Default: 16,384. Extensions and metadata do not count: those of an Envoy may have hundreds of kilobytes. */
  readonly nodeLength: number;
  /** Types on one stream (S-LIM-4). Default: 64. Room: an Envoy asks for about a dozen. */
  readonly types: number;
  /** Changes of subscriptions that one stream may make at once (S-LIM-2). A list costs one more for each 1,000 names. Default: 1,000. Room: an Envoy that asks for 50,000 endpoints in one list pays 51; one that asks for each by itself is read more slowly. */
  readonly changeBurst: number;
  /** Changes of subscriptions per second of one stream, once the burst is used up; then it is read at that rate (S-LIM-2). Default: 100. It slows a stream and does not end it. */
  readonly changesPerSecond: number;
  /** What a NACK costs of these (S-LIM-2). Default: 10. Room: a client sends one NACK for each response that it rejects, and may do so ten times per second. */
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

/** How often each limit of the streams was met; a limit that never was is absent. */
export interface LimitCounts {
  /** Counts that a limit was met. */
  count(limit: keyof StreamLimits): void;
  /** How often each limit was met; those that never were are absent. */
  readonly counts: Readonly<Partial<Record<keyof StreamLimits, number>>>;
}

/** All at zero. */
export function createLimitCounts(): LimitCounts {
  const counts: Partial<Record<keyof StreamLimits, number>> = {};
  return {
    counts,
    count(limit) {
      counts[limit] = (counts[limit] ?? 0) + 1;
    },
  };
}
