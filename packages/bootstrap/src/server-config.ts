import type { RequestRate } from "@xdstp/protocol/client";

import type { BootstrapServer } from "./bootstrap/bootstrap.ts";
import type { FederationSource } from "./federation-source.ts";

/** A management server and how it is spoken to, as configuration says it. One of a gRPC bootstrap is one as it is. */
export interface ServerConfig extends BootstrapServer {
  /** Default: that of {@link ServerOptions}. */
  readonly variant?: "delta" | "sotw";
  /** One stream for all types; else one for each, on the service of the type (C-AGG-2). Default: true. */
  readonly aggregated?: boolean;
  /** Headers of each stream: names in lower case, values in printable ASCII. Default: none. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** `rate_limit_settings`. Default: that of {@link ServerOptions}. */
  readonly rate?: RequestRate;
  /** A resource that the server removes stays, with the error next to it, as gRPC has it (C-GRPC-9). Default: true, unless its features have `fail_on_data_errors`. */
  readonly keepRemoved?: boolean;
}

/** A source as configuration says it: what {@link createSources} makes a {@link FederationSource} of. */
export interface SourceConfig extends Omit<FederationSource, "servers"> {
  /** In order of preference. */
  readonly servers: readonly ServerConfig[];
}
