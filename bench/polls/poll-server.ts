/** A server of polls under measurement. */
export interface PollServer {
  readonly port: number;
  /** Changes the resources. `stamp` makes the content new. */
  change(stamp: number): void;
  /** Returns the number of requests that wait for a change. */
  waiting(): number;
}

/** The path of the one resource over native HTTP. */
export const pollPath = "/envoy.config.cluster.v3.Cluster/web";

/** The path of clusters over REST. */
export const restPath = "/v3/discovery:clusters";

/** Milliseconds that a poll waits: longer than a run, so that each answer is a change. */
export const holdMs = 600_000;
