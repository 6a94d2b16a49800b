/** Lets some clients see what has changed first, and lets them decide (B-RELAY-5). */
export interface QuorumOptions {
  /** The number of distinct clients of each interest that see a new version first, and of acceptances that are enough. Default: 3. */
  readonly clients?: number;
  /** Milliseconds after which silence counts as acceptance; so long may the answer to upstream wait. Default: 10,000. */
  readonly waitMs?: number;
}
