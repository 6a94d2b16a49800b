/** The forms of polls over REST. */
export type RestProtocol = "rest-json" | "rest-protobuf";

/** Clients that poll for the same resources, each on a connection of its own. Data only: it crosses to the child processes. */
export interface PollScenario {
  readonly protocol: "native" | RestProtocol;
  /**
   * The way in which the polls of a round end: they wait for a change, they are sent after a change,
   * or they are sent while the client has the newest state.
   */
  readonly ending: "change-while-waiting" | "change" | "unchanged";
  readonly clients: number;
  readonly resources: number;
  /** Rounds that are not counted: code is compiled in them. */
  readonly warmUpRounds: number;
  readonly rounds: number;
}
