import type { JsonObject } from "@bufbuild/protobuf";

/**
 * The configuration of a client before its first request: the parsed and checked bootstrap of gRPC
 * (C-GRPC-1).
 */
export interface Bootstrap {
  /**
   * The servers in order of preference, at least one. The next one is used when a previous one
   * cannot be reached (C-GRPC-6).
   */
  readonly servers: readonly BootstrapServer[];
  /** The node of the client. */
  readonly node: BootstrapNode;
  /** By authority, exactly as written; `""` is an authority too. */
  readonly authorities: ReadonlyMap<
    string,
    {
      /** `client_listener_resource_name_template`; begins with `xdstp://AUTHORITY/` (N-91). Absent: `xdstp://AUTHORITY/envoy.config.listener.v3.Listener/%s`. */
      readonly clientListenerTemplate?: string;
      /** The servers of the authority. Empty: it uses the servers of the bootstrap. */
      readonly servers: readonly BootstrapServer[];
      /** `fallback_on_reachability_only` (C-GRPC-7, A47). */
      readonly fallbackOnReachabilityOnly: boolean;
    }
  >;
  /** `client_default_listener_resource_name_template`: the name of the listener of a target without an authority. gRPC's default is `%s`. */
  readonly clientListenerTemplate?: string;
  /** `server_listener_resource_name_template`: the name of the listener of an xDS server by its address (C-GRPC-17). */
  readonly serverListenerTemplate?: string;
  /**
   * The sources of data-plane certificates, by the name that resources use. Their configuration is
   * not interpreted.
   */
  readonly certificateProviders: ReadonlyMap<
    string,
    {
      /** `plugin_name`, for example `file_watcher`. */
      readonly plugin: string;
      /** The configuration of the plugin, as the bootstrap has it. */
      readonly config: JsonObject;
    }
  >;
}

/** One management server. */
export interface BootstrapServer {
  /** `server_uri`: the target of the channel, as gRPC names it, or a URL of another transport. */
  readonly uri: string;
  /** The first known entry of `channel_creds`. */
  readonly credentials: BootstrapCredentials;
  /**
   * `server_features`, including unknown ones. Known: `fail_on_data_errors` (C-GRPC-9),
   * `resource_timer_is_transient_error` (C-GRPC-10), `trusted_xds_server`.
   */
  readonly features: ReadonlySet<string>;
}

/**
 * The credentials for a management server: plain text, TLS, which is mutual if there is a
 * certificate, or those of a transport. Paths are as written.
 */
export type BootstrapCredentials =
  | { readonly type: "insecure" }
  | {
      readonly type: "tls";
      /** The authorities that may sign the certificate of the server. Absent: those that Node trusts. */
      readonly caCertificateFile?: string;
      /** The certificate of this client; with `privateKeyFile`. */
      readonly certificateFile?: string;
      /** The private key of this client; with `certificateFile`. */
      readonly privateKeyFile?: string;
      /**
       * The name that the certificate of the server has to match, also sent as SNI. A gRPC
       * bootstrap cannot set it. Absent: the host of the target.
       */
      readonly servername?: string;
      /** Milliseconds until the files are read again. Default 600,000. */
      readonly refreshIntervalMs: number;
    }
  | {
      /** Credentials of a transport that is not part of this project. */
      readonly type: "transport";
      /** The type in `channel_creds`. It is also the name of the transport. */
      readonly name: string;
      /** The configuration of the credentials, as the bootstrap has it. */
      readonly config: JsonObject;
    };

/** The credentials with TLS. */
export type TlsCredentials = Extract<BootstrapCredentials, { readonly type: "tls" }>;

/** `node` of the bootstrap, without the name and features of the program. */
export interface BootstrapNode {
  /** `node.id`; empty: none. */
  readonly id: string;
  /** `node.cluster`; empty: none. */
  readonly cluster: string;
  /** `node.locality`: where the client runs. Absent: none. */
  readonly locality?: {
    /** `region`; empty: none. */
    readonly region: string;
    /** `zone`; empty: none. */
    readonly zone: string;
    /** `sub_zone`; empty: none. */
    readonly subZone: string;
  };
  /** Any JSON object, for the server. */
  readonly metadata?: JsonObject;
  /**
   * `dynamic_parameters`, by type URL: context parameters for the server, which are not part of
   * names (N-65). A gRPC bootstrap has none.
   */
  readonly dynamicParameters?: ReadonlyMap<string, ReadonlyMap<string, string>>;
}
