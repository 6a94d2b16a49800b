/** A name that waits, and what it waits for. */
export interface HeldBackName {
  /** The name that waits. */
  readonly name: string;
  /** The name that the client has rejected or does not have yet. */
  readonly for: string;
  /** The type URL of that. */
  readonly forType: string;
  /** When the wait began, in milliseconds since the epoch. */
  readonly since: number;
}
