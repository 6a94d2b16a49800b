/** The state of the services of OpenFeature: counts since the start, and current numbers. */
export interface FlagsStatus {
  /** The number of answers over OFREP since the start, by status code of HTTP. */
  readonly answered: ReadonlyMap<number, number>;
  /** The number of open event streams of OFREP. */
  readonly eventStreams: number;
  /** The number of open streams of `flagd.sync.v1`. */
  readonly syncStreams: number;
  /** The number of collections that are followed, over all callers. */
  readonly collections: number;
}

/** The counters behind {@link FlagsStatus}, which the services write. */
export interface FlagCounters {
  readonly answered: Map<number, number>;
  eventStreams: number;
  syncStreams: number;
}
