import type { ResourceFeed } from "@xdstp/core";
import type { ClientStatus } from "@xdstp/protocol/client";

import type { ServerConfig } from "./server-config.ts";

/** Servers in order of preference, and for whom they are believed. Sources that list one authority are tried in order (C-AUTH-3). */
export interface FederationSource {
  /** The next one is asked when one above cannot be reached (C-GRPC-6). At least one. */
  readonly servers: readonly FederationServer[];
  /** Exactly as names write them; `""` is one too. Absent: it is the default, for all that no other source is for, opaque names included (C-AUTH-1). */
  readonly authorities?: readonly string[];
  /** Opaque names only, and no xdstp name whose authority no source lists: with `authorities` in its bootstrap gRPC knows no others (C-AUTH-5). The default then gets no opaque names. Only without `authorities`. Default: false. */
  readonly opaque?: boolean;
  /** The next server is asked as soon as one cannot be reached, also when nothing is missing (C-GRPC-7). Default: false. */
  readonly reachabilityOnly?: boolean;
  /** Where it is configured, for people, such as `config_sources[0]`. Default: unknown. */
  readonly place?: string;
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
