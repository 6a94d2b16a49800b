/** A server under measurement. */
export interface BenchServer {
  readonly port: number;
  /** Changes these resources, each in a change of its own. `stamp` makes the content new. */
  change(indexes: readonly number[], stamp: number): void;
  /** The input from clients, in messages or, where requests are not decoded, in bytes. */
  received(): Received;
}

/** A count of requests, first ones and ACKs alike. */
export interface Received {
  readonly unit: "messages" | "bytes";
  readonly count: number;
}
