import type { Endpoint } from "./parse-endpoint.ts";

/** What a bootstrap says; of both kinds. */
export interface BootstrapOptions {
  /** Where the server listens. */
  readonly server: Endpoint;
  /** `node.id`: which client this is, for people. */
  readonly node: string;
  /** `node.cluster`: the group it belongs to. */
  readonly cluster: string;
  /** The client asks for names of this authority. Absent: for opaque names, and Envoy for everything. */
  readonly authority?: string;
}
