/** The limits of `createHttpHandler`. */
export interface HttpLimits {
  /** The number of requests that may wait for a change, over all clients. Default 50,000. */
  readonly waiting: number;
  /** Milliseconds that a long poll waits. Default 25,000, less than the read time-out of most proxies. */
  readonly holdMs: number;
  /**
   * Milliseconds that a request waits until something is known of its name. Default 5,000. After
   * that it is answered with status 503.
   */
  readonly settleMs: number;
  /** Milliseconds that a cache may use an answer without asking again (S-HTTP-6). Default 5,000. */
  readonly maxAgeMs: number;
  /**
   * Milliseconds that a cache may use the answer to a long poll that has seen a change. Default
   * 60,000. A client that was away for less is led through the states that it has missed.
   */
  readonly changeMaxAgeMs: number;
  /** Milliseconds that a cache may use an answer while this server cannot be reached. Default one day. */
  readonly staleIfErrorMs: number;
  /** Milliseconds that a name stays followed after its last request. Default 30,000. */
  readonly keepMs: number;
  /** Milliseconds between two comments on an event stream without a change. Default 15,000. */
  readonly commentMs: number;
  /** The maximum number of characters of the target of a request. Default 8,192. */
  readonly targetLength: number;
}

/** The defaults of {@link HttpLimits}. */
export const defaultHttpLimits: HttpLimits = {
  waiting: 50_000,
  holdMs: 25_000,
  settleMs: 5_000,
  maxAgeMs: 5_000,
  changeMaxAgeMs: 60_000,
  staleIfErrorMs: 86_400_000,
  keepMs: 30_000,
  commentMs: 15_000,
  targetLength: 8_192,
};
