import type { ServerConfig, SourceConfig } from "@xdstp/bootstrap";
import type { ResourceFeed } from "@xdstp/core";
import type { ClientStatus } from "@xdstp/protocol/client";

/** A source of configuration whose servers can be opened. Sources that list one authority are tried in order (C-AUTH-3). */
export interface FederationSource extends Omit<SourceConfig, "servers"> {
  /** The next one is asked when one above cannot be reached (C-GRPC-6). At least one. */
  readonly servers: readonly FederationServer[];
}

/** One server as a federation asks it. Servers with equal `id` share one stream (C-AGG-1). */
export interface FederationServer {
  /** Equal for equal configurations, however they are written. */
  readonly id: string;
  /** For people: its URI. */
  readonly name: string;
  /** How it is spoken to, for who shows it. Absent: it is not a server of configuration. */
  readonly config?: ServerConfig;
  /** A client of it; made again each time the server comes into use. */
  open(): OpenServer;
}

/** A server in use. */
export interface OpenServer {
  /** With more members where it is a client of this stack; whether it has answered is read often. */
  readonly feed: ResourceFeed & {
    readonly responded?: boolean | undefined;
    status?(): ClientStatus | undefined;
    nodeChanged?(): void;
  };
  /** Lets go of its connection, once the feed has ended. */
  close(): void;
}
