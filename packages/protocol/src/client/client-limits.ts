/**
 * The limits on what a client accepts from a server, which it does not trust (C-LIM-7). What
 * exceeds a limit is rejected: the response, or a resource.
 */
export interface ClientLimits {
  /** The number of resources, removals and errors in one response. Default: 1,000,000. */
  readonly responseEntries: number;
  /**
   * The number of members of one glob or wildcard, so that a server cannot fill the memory with
   * names. Further members are rejected; updates of cached ones are still accepted.
   * A million small resources take about 1 GB; only a configuration of more than a million
   * resources of one type reaches the limit. Default: 1,000,000.
   */
  readonly members: number;
  /** The length of a name or a version from a server, in UTF-16 units. Default: 4,096. */
  readonly nameLength: number;
  /** The number of aliases of one resource. Default: 1,000. */
  readonly aliases: number;
  /**
   * The length in UTF-16 units of the text of a NACK, and of an error text from a server that is
   * stored. Default: 4,096.
   */
  readonly errorText: number;
  /**
   * The number of rejected members of a glob or wildcard that are stored by name for status, and
   * that are reported of one response. Default: 1,000.
   */
  readonly rejectedMembers: number;
  /**
   * The number of answers (ACK and NACK) of one type that wait while the wire is full. Default:
   * 1,000.
   */
  readonly waitingAnswers: number;
}

/** The defaults of {@link ClientLimits}. */
export const defaultClientLimits: ClientLimits = {
  responseEntries: 1_000_000,
  members: 1_000_000,
  nameLength: 4_096,
  aliases: 1_000,
  errorText: 4_096,
  rejectedMembers: 1_000,
  waitingAnswers: 1_000,
};
