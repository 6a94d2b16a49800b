import type { BootstrapServer } from "../grpc/bootstrap.ts";
import type { ServerConfig } from "../server-config.ts";

/** A ConfigSource, read: where what is named next to it comes from (C-AUTH-6). */
export type EnvoyConfigSource =
  /** The one ADS source of the bootstrap. */
  | ({ readonly kind: "ads" } & ConfigSourceFacts)
  /** The source that has delivered the reference. */
  | ({ readonly kind: "self" } & ConfigSourceFacts)
  /** Servers of its own, in order of preference. At least one. */
  | ({ readonly kind: "servers"; readonly servers: readonly ServerConfig[] } & ConfigSourceFacts);

/** What every ConfigSource says. */
export interface ConfigSourceFacts {
  /** For whom it is believed (C-AUTH-1), exactly as written, each once. Empty: it is for opaque names, or the default. */
  readonly authorities: readonly string[];
  /** `initial_fetch_timeout` in milliseconds, for the start of what warms (C-WARM-3). 0: for ever. Default: 15,000. */
  readonly initialFetchMs: number;
}

/** The servers that a static cluster leads to, in order of preference; undefined: there is no such cluster. It may throw an XdsError: there is one that leads to no management server. */
export type StaticClusters = (name: string) => readonly BootstrapServer[] | undefined;
