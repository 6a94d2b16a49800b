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
  /** The client subscribes to names of these authorities; the first is the default. Empty: to opaque names, and Envoy to everything. */
  readonly authorities: readonly string[];
  /** The server has TLS; files as the client finds them. Absent: it has none. */
  readonly tls?: ClientTlsFiles;
}
