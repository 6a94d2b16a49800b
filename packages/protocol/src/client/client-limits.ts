/** What a client takes from a server, which it does not trust (C-LIM-7). Beyond: the response or resource is rejected, never the process. */
export interface ClientLimits {
  /** Resources, removals and errors in one response. Default: 1,000,000. */
  readonly responseEntries: number;
  /**
   * Members of one glob or wildcard, so that a server cannot fill the memory with names. Further ones are rejected, and those that are cached go on being updated.
   * A million small resources take about 1 GB; only a configuration of more than a million resources of one type reaches the limit. Default: 1,000,000.
   */
  readonly members: number;
  /** UTF-16 units of a name that a server gives, and of a version. Default: 4,096. */
  readonly nameLength: number;
  /** Aliases of one resource. Default: 1,000. */
  readonly aliases: number;
  /** UTF-16 units of a rejection that is sent, and of an error that a server gives and that is kept. Default: 4,096. */
  readonly errorText: number;
  /** Rejected members of a glob or wildcard that are remembered by name, for status, and told of one response. Default: 1,000. */
  readonly rejectedMembers: number;
  /** Answers of one type that wait for a full wire. Default: 1,000. */
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
