/** How long and how much streams wait until it is decided what they may see. */
export interface AccessLimits {
  /** Milliseconds that `authorize` and `sourceFor` have together; then the client gets UNAVAILABLE. Default: 10,000. The latency of the client does not count. */
  readonly authorizeMs: number;
  /** Messages of one stream that may wait for it, since the wire delivers them although it is paused. One more gets RESOURCE_EXHAUSTED. Default: 64. Room: an Envoy sends one request for each of about a dozen types before it has an answer. */
  readonly waitingMessages: number;
  /** Bytes of these messages behind the first one. Default: 16 MiB. Room: the first requests of an Envoy with 100,000 names of endpoints, and of the clusters that it still holds. */
  readonly waitingBytes: number;
}

/** The defaults of {@link AccessLimits}. */
export const defaultAccessLimits: AccessLimits = {
  authorizeMs: 10_000,
  waitingMessages: 64,
  waitingBytes: 16 << 20,
};
