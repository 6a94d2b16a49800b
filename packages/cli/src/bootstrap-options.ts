import type { ClientTlsFiles } from "./client-tls-flags.ts";
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
  /** The server has TLS; files as the client finds them. Absent: it has none. */
  readonly tls?: ClientTlsFiles;
}
