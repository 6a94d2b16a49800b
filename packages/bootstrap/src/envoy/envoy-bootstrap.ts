import type { BootstrapNode } from "../grpc/bootstrap.ts";
import type { SourceConfig } from "../server-config.ts";
import type { EnvoyConfigSource, StaticClusters } from "./config-source.ts";

/** What a bootstrap of Envoy says of xDS. */
export interface EnvoyBootstrap {
  /** Who the client says it is. */
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
  /** Resolves static clusters, also for ConfigSources inside resources. Throws for one that leads to no management server. */
  readonly clusters: StaticClusters;
}
