/** A server of long polls under measurement. */
export interface PollServer {
  readonly port: number;
  /** Changes the resource. `stamp` makes the content new. */
  change(stamp: number): void;
  /** Returns the number of requests that wait for a change. */
  waiting(): number;
}

/** The path of the one resource. */
export const pollPath = "/envoy.config.cluster.v3.Cluster/web";

/** Milliseconds that a poll waits: longer than a run, so that each answer is a change. */
export const holdMs = 600_000;
