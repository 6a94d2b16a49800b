/** Limits of {@link createFlags}. */
export interface FlagLimits {
  /** The number of collections that are followed at the same time, over all callers. */
  readonly collections: number;
  /** The largest document of a collection in bytes; providers accept 4 MiB by default. */
  readonly documentBytes: number;
  /** Milliseconds for which a collection is followed after its last use. */
  readonly keepMs: number;
  /** Milliseconds that a request waits for the first state of a collection. */
  readonly settleMs: number;
  /** The largest body of a request of OFREP, in bytes. */
  readonly bodyBytes: number;
  /** Milliseconds in which the body has to arrive. */
  readonly bodyMs: number;
  /** The number of requests of OFREP per second and client address. */
  readonly requestsPerSecond: number;
  /** The number of open event streams. */
  readonly eventStreams: number;
  /** Milliseconds without a change after which an event stream gets a comment. */
  readonly commentMs: number;
  /** Milliseconds in which a client has to read an answer or an event. */
  readonly writeMs: number;
}

/** The limits, unless options replace them. */
export const defaultFlagLimits: FlagLimits = {
  collections: 256,
  documentBytes: 4_000_000,
  keepMs: 60_000,
  settleMs: 5_000,
  bodyBytes: 65_536,
  bodyMs: 10_000,
  requestsPerSecond: 200,
  eventStreams: 10_000,
  commentMs: 15_000,
  writeMs: 60_000,
};
