import type { Clock, ResourceFeed, XdsError } from "@xdstp/core";
import type { ClientStatus } from "@xdstp/protocol/client";

import type { FederationSource } from "./federation-source.ts";
import type { SharedServers } from "./sharing/shared-servers.ts";

/** Options of {@link createFederation}. Only `sources` is required. */
export interface FederationOptions {
  /** The sources in order (C-AUTH-1). */
  readonly sources: readonly FederationSource[];
  /**
   * Servers that are shared with other federations, from {@link createSharedServers}. Default: the
   * servers of this federation have streams of their own.
   */
  readonly servers?: SharedServers;
  /**
   * True if redirects are followed and delivered under the requested name. If false, redirects are
   * passed on unchanged, as a relay does (B-RELAY-14). Default: true.
   */
  readonly follow?: boolean;
  /** The maximum number of redirects that are followed from one name (C-REDIR-4). Default: 5. */
  readonly maxHops?: number;
  /**
   * When an alternative is used. `unreachable`: no server that could answer is reachable (C-ALT-2).
   * `missing`: also when the primary reports that the resource does not exist. Default:
   * `unreachable`.
   */
  readonly altOn?: "unreachable" | "missing";
  /**
   * Returns true for an authority whose alternative also replaces cached resources as soon as the
   * authority is unreachable (C-ALT-3). Default: none.
   */
  readonly altOnUnreachable?: (authority: string) => boolean;
  /**
   * Finds the source of an authority that is not configured. `undefined`, or an XdsError NOT_FOUND
   * or INVALID_ARGUMENT, means that there is none. Any other error may be temporary. While a
   * subscriber waits for an authority that is not found, the function is called again, after 1 s,
   * then after delays that are each 1.6 times as long, up to 120 s, 20 % more or less. Default: no
   * search; such a name has an error (C-AUTH-5).
   */
  readonly resolveAuthority?: (
    authority: string,
  ) => FederationSource | undefined | Promise<FederationSource | undefined>;
  /**
   * Milliseconds that `resolveAuthority` may take. Then the names of the authority get an error
   * that says so. A later result is still used. Default: 15,000.
   */
  readonly resolveMs?: number;
  /**
   * Returns the dynamic parameters, by authority, of the names that redirects lead to (C-DYN-1).
   * Default: none.
   */
  readonly parametersOf?: (authority: string) => ReadonlyMap<string, string> | undefined;
  /**
   * Milliseconds that a server without subscriptions stays open (C-STREAM-14). `Infinity`: it is
   * not closed. Default: 10,000.
   */
  readonly idleMs?: number;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** Returns a number from 0 up to 1, for jitter. Default: `Math.random`. */
  readonly random?: () => number;
  /** Receives events for operators. It must not throw. */
  readonly onEvent?: (event: FederationEvent) => void;
}

/**
 * An event for operators: a server has sent resources of an authority that is not its own, and they
 * were ignored (C-AUTH-7).
 */
export interface FederationEvent {
  /** The kind of event. */
  readonly kind: "foreign";
  /** The URI of the server. */
  readonly server: string;
  /** The type URL of the resources. */
  readonly typeUrl: string;
  /** The number of resources in one response. */
  readonly names: number;
  /** A hash of the set of names, independent of their order, to detect names that a SotW server repeats with each response. It is not a secure hash. */
  readonly namesHash: number;
  /** The protocol variant of the stream to the server. Absent: the server is not in the configuration. */
  readonly variant?: "delta" | "sotw";
}

/** The state of one server of a federation. */
export interface FederationServerStatus {
  /** The id of the {@link FederationServer}. Federations that share a server report the same id. */
  readonly id: string;
  /** The URI, for display. */
  readonly name: string;
  /**
   * The state of the stream, and of the subscriptions of this federation on it. Absent: the server
   * is not in use (C-GRPC-6).
   */
  readonly status?: ClientStatus;
  /**
   * True if a server without streams, as over HTTP, has answered the last request; it has no
   * `status`, since nothing is acknowledged (B-HTTP-12). Absent: it has streams, or is not in use.
   */
  readonly answers?: boolean;
  /** The reason why the server cannot be reached (C-GRPC-4). Absent: no failure is known. */
  readonly failure?: XdsError;
}

/** The way from a requested name with redirects or directives to the delivered resource. */
export interface Trace {
  /** The type URL of the name. */
  readonly typeUrl: string;
  /** The name as it was requested. */
  readonly name: string;
  /** The state of the last hop. */
  readonly state: "pending" | "held" | "missing" | "unreachable" | "broken";
  /** The steps from the requested name to the delivered resource. */
  readonly hops: readonly {
    /** The reason for the step. */
    readonly kind: "redirect" | "alt" | "entry";
    /** The next name, as a locator. */
    readonly to: string;
  }[];
  /**
   * The reason why no resource is cached, or why the cached one may be out of date. Absent: neither
   * applies.
   */
  readonly error?: XdsError;
}

/**
 * A feed over feeds: it requests each name from the servers of its authority, follows redirects and
 * directives, and is one feed of a cache.
 * A cache that requests names with directives has to be created with the option `directives`.
 */
export interface Federation extends ResourceFeed {
  /** Changes the subscriptions of a type, at whichever servers the names belong to. */
  want(...updates: Parameters<NonNullable<ResourceFeed["want"]>>): void;
  /**
   * Returns true if `*` covers a name. `*` is requested from the default source, so it covers the
   * names that this source serves. For the option `wildcard` of a cache:
   * `wildcard: (_, name) => federation.inWildcard(name)`.
   */
  inWildcard(name: string): boolean;
  /**
   * Returns every server that is configured or was used, in order. With an authority (`null`:
   * opaque names), returns the servers for its names.
   */
  status(authority?: string | null): readonly FederationServerStatus[];
  /** Returns all names with redirects or directives, and where each leads now. */
  traces(): readonly Trace[];
  /** Reports that the node has changed (C-NODE-4). */
  nodeChanged(): void;
}
