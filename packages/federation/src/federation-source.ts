import type { ServerConfig, SourceConfig } from "@xdstp/bootstrap";
import type { ResourceFeed } from "@xdstp/core";
import type { ClientStatus } from "@xdstp/protocol/client";

/**
 * A source of configuration whose servers can be opened. Sources that list one authority are tried
 * in order (C-AUTH-3).
 */
export interface FederationSource extends Omit<SourceConfig, "servers"> {
  /**
   * The servers in order, at least one. The next one is used when a previous one cannot be reached
   * (C-GRPC-6).
   */
  readonly servers: readonly FederationServer[];
}

/** One server of a federation. Servers with equal `id` share one stream (C-AGG-1). */
export interface FederationServer {
  /** Equal for equal configurations, even if they are written differently. */
  readonly id: string;
  /** The URI, for display: without a password. */
  readonly name: string;
  /** The configuration, for display. Absent: the server was not created from configuration. */
  readonly config?: ServerConfig;
  /** Creates a client of the server. Called each time the server comes into use. */
  open(): OpenServer;
}

/** A server in use. */
export interface OpenServer {
  /** A feed. A client of this project has the other members too. `responded` is read often. */
  readonly feed: ResourceFeed & {
    readonly responded?: boolean | undefined;
    status?(): ClientStatus | undefined;
    nodeChanged?(): void;
  };
  /** Releases the connection, after the feed has ended. */
  close(): void;
}
