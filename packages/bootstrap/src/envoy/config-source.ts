import type { BootstrapNode, BootstrapServer } from "../grpc/bootstrap.ts";
import type { ServerConfig, SourceConfig } from "../server-config.ts";

/** A decoded ConfigSource: the source of the name next to it (C-AUTH-6). */
export type EnvoyConfigSource = {
  /**
   * The authorities that it applies to (C-AUTH-1), exactly as written, each once. Empty: it is for
   * opaque names, or the default.
   */
  readonly authorities: readonly string[];
  /**
   * `initial_fetch_timeout` in milliseconds: how long a resource that warms waits at the start
   * (C-WARM-3). 0: no limit. Default: 15,000.
   */
  readonly initialFetchMs: number;
} & (
  | {
      /**
       * `ads`: the one ADS source of the bootstrap. `self`: the source that has delivered the
       * reference.
       */
      readonly kind: "ads" | "self";
    }
  | {
      readonly kind: "servers";
      /** Its own servers, in order of preference. At least one. */
      readonly servers: readonly ServerConfig[];
    }
);

/** The parts of a bootstrap of Envoy that concern xDS. */
export interface EnvoyBootstrap {
  /** The node of the client. */
  readonly node: BootstrapNode;
  /**
   * The sources in the order in which they are tried, the default last (C-AUTH-1):
   * `config_sources`, the ADS source for opaque names, `default_config_source`. Without
   * `config_sources` and `default_config_source`, the ADS source is the default.
   * Empty if only listeners and clusters have ConfigSources.
   */
  readonly sources: readonly SourceConfig[];
  /**
   * The servers of `dynamic_resources.ads_config`, for ConfigSources with `ads`. Absent: there is
   * none.
   */
  readonly ads?: SourceConfig;
  /** `node_context_params`: fields of the node that become context parameters (N-62). */
  readonly nodeContextParams: readonly string[];
  /**
   * `lds_resources_locator` and `cds_resources_locator`: collections that are followed instead of
   * all listeners and clusters. Absent: opaque names are used.
   */
  readonly resourcesLocators: { readonly listeners?: string; readonly clusters?: string };
  /** `lds_config` and `cds_config`: the ConfigSources of listeners and clusters. */
  readonly configSources: {
    readonly listeners?: EnvoyConfigSource;
    readonly clusters?: EnvoyConfigSource;
  };
  /**
   * Returns the servers of a static cluster, in order of preference; also for ConfigSources inside
   * of resources. `undefined`: the cluster does not exist. Throws an XdsError for a cluster without
   * a management server, and for gRPC also for one without HTTP/2.
   * @param use - The protocol that the servers are used with. Default: `grpc`
   */
  readonly clusters: (
    name: string,
    use?: "grpc" | "rest",
  ) => readonly BootstrapServer[] | undefined;
}
