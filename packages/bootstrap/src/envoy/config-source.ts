import type { BootstrapNode, BootstrapServer } from "../grpc/bootstrap.ts";
import type { ServerConfig, SourceConfig } from "../server-config.ts";

/** A ConfigSource, read: where what is named next to it comes from (C-AUTH-6). */
export type EnvoyConfigSource = {
  /** For whom it is believed (C-AUTH-1), exactly as written, each once. Empty: it is for opaque names, or the default. */
  readonly authorities: readonly string[];
  /** `initial_fetch_timeout` in milliseconds, for the start of what warms (C-WARM-3). 0: for ever. Default: 15,000. */
  readonly initialFetchMs: number;
} & (
  | {
      /** `ads`: the one ADS source of the bootstrap. `self`: the source that has delivered the reference. */
      readonly kind: "ads" | "self";
    }
  | {
      readonly kind: "servers";
      /** Servers of its own, in order of preference. At least one. */
      readonly servers: readonly ServerConfig[];
    }
);

/** The parts of a bootstrap of Envoy that concern xDS. */
export interface EnvoyBootstrap {
  /** The node as which the client introduces itself. */
  readonly node: BootstrapNode;
  /**
   * In the order in which they are tried, the default last (C-AUTH-1): `config_sources`, the ADS source for opaque names, `default_config_source`. With neither of the other two the ADS source is the default.
   * Empty where only listeners and clusters have ConfigSources.
   */
  readonly sources: readonly SourceConfig[];
  /** Servers of `dynamic_resources.ads_config`, for ConfigSources that say `ads`. Absent: there is none. */
  readonly ads?: SourceConfig;
  /** `node_context_params`: fields of the node that become context parameters (N-62). */
  readonly nodeContextParams: readonly string[];
  /** `lds_resources_locator` and `cds_resources_locator`: collections that are followed instead of all listeners and clusters. Absent: by opaque names. */
  readonly resourcesLocators: { readonly listeners?: string; readonly clusters?: string };
  /** `lds_config` and `cds_config`: the ConfigSources next to these. */
  readonly configSources: {
    readonly listeners?: EnvoyConfigSource;
    readonly clusters?: EnvoyConfigSource;
  };
  /** Returns the servers that a static cluster leads to, in order of preference, also for ConfigSources inside resources; undefined: there is no such cluster. Throws an XdsError for one that leads to no management server. */
  readonly clusters: (name: string) => readonly BootstrapServer[] | undefined;
}
