/** Lets some clients see what has changed first, and lets them decide (B-RELAY-5). */
export interface QuorumOptions {
  /** So many distinct clients of each interest see a new version first, and so many acceptances are enough. Default: 3. */
  readonly clients?: number;
  /** Milliseconds after which silence counts as acceptance; so long may the answer to upstream wait. Default: 10,000. */
  readonly waitMs?: number;
}
