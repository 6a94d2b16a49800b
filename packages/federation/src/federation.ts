import type { Clock, ResourceFeed, XdsError } from "@xdstp/core";
import type { ClientStatus } from "@xdstp/protocol/client";

import type { FederationSource } from "./federation-source.ts";
import type { SharedServers } from "./sharing/shared-servers.ts";

/** Options of {@link createFederation}. Only `sources` have to be given. */
export interface FederationOptions {
  /** The sources in order (C-AUTH-1). */
  readonly sources: readonly FederationSource[];
  /** Servers that are shared with other federations: of {@link createSharedServers}. Default: those that this federation asks have a stream of their own for it. */
  readonly servers?: SharedServers;
  /** Whether redirects are followed and delivered under the requested name; else they are passed on unchanged, as by a relay (B-RELAY-14). Default: true. */
  readonly follow?: boolean;
  /** How many redirects are followed from one name (C-REDIR-4). Default: 5. */
  readonly maxHops?: number;
  /** When an alternative is used: `unreachable`, when no server that could answer is reachable (C-ALT-2); `missing`, also when the primary says that the resource does not exist. Default: `unreachable`. */
  readonly altOn?: "unreachable" | "missing";
  /** Authorities whose alternative also replaces cached resources, as soon as they cannot be reached (C-ALT-3). Default: none. */
  readonly altOnUnreachable?: (authority: string) => boolean;
  /** Finds the source of an authority that nothing configures. undefined, or an XdsError NOT_FOUND or INVALID_ARGUMENT: there is none; any other error may pass. While one is not found and a subscriber waits for it, it is called again, after 1 s, then 1.6 times as long each time up to 120 s, 20 % more or less. Default: nothing is looked for, such a name is an error (C-AUTH-5). */
  readonly resolveAuthority?: (
    authority: string,
  ) => FederationSource | undefined | Promise<FederationSource | undefined>;
  /** Milliseconds in which `resolveAuthority` has to answer; then its names have an error that says so. A late answer is still taken. Default: 15,000. */
  readonly resolveMs?: number;
  /** Dynamic parameters of the names that redirects lead to, by authority (C-DYN-1). Default: none. */
  readonly parametersOf?: (authority: string) => ReadonlyMap<string, string> | undefined;
  /** Milliseconds that a server without subscriptions stays open (C-STREAM-14). `Infinity`: it stays. Default: 10,000. */
  readonly idleMs?: number;
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
  /** From 0 up to 1, for jitter. Default: `Math.random`. */
  readonly random?: () => number;
  /** Told what an operator should know. It must not throw. */
  readonly onEvent?: (event: FederationEvent) => void;
}

/** What an operator should know: a server has given resources of an authority that is not its own, and they were ignored (C-AUTH-7). */
export interface FederationEvent {
  /** The kind of event. */
  readonly kind: "foreign";
  /** The URI of the server. */
  readonly server: string;
  /** The type URL of the resources. */
  readonly typeUrl: string;
  /** How many there were in one response. */
  readonly names: number;
  /** A hash of the set of names, independent of their order, to detect names that a SotW server repeats with each response. It is not a secure hash. */
  readonly namesHash: number;
  /** The protocol variant of the stream to the server. Absent: the server is not in the configuration. */
  readonly variant?: "delta" | "sotw";
}

/** One server, as a federation knows it. */
export interface FederationServerStatus {
  /** That of the {@link FederationServer}: equal for what several federations say of one that they share. */
  readonly id: string;
  /** For people: its URI. */
  readonly name: string;
  /** Of what this federation asks it, and of its stream. Absent: it is not in use (C-GRPC-6). */
  readonly status?: ClientStatus;
  /** Why it cannot be reached (C-GRPC-4). Absent: it can, as far as is known. */
  readonly failure?: XdsError;
}

/** How a name is delivered that leads elsewhere. */
export interface Trace {
  /** The type URL of the name. */
  readonly typeUrl: string;
  /** As it was requested. */
  readonly name: string;
  /** What is known of the last hop. */
  readonly state: "pending" | "held" | "missing" | "unreachable" | "broken";
  /** The steps from the name to what is delivered. */
  readonly hops: readonly {
    /** Why the step was taken. */
    readonly kind: "redirect" | "alt" | "entry";
    /** The next name, as a locator. */
    readonly to: string;
  }[];
  /** Why it is not cached, or why what is cached may be out of date. Absent: neither. */
  readonly error?: XdsError;
}

/**
 * A feed over feeds: asks for each name whom its authority says, follows redirects and directives, and is one feed to a cache.
 * A cache that is to be asked for names with directives has to be made with `directives`.
 */
export interface Federation extends ResourceFeed {
  /** Changes what is subscribed of a type, at whichever servers have the names. */
  want(...updates: Parameters<NonNullable<ResourceFeed["want"]>>): void;
  /** Whether `*` covers a name: the default source gets the request for it, so it covers what that source serves. The option `wildcard` of a cache over this federation: `wildcard: (_, name) => federation.inWildcard(name)`. */
  inWildcard(name: string): boolean;
  /** Every server that is configured or was used, in order; with an authority (null: of opaque names) those of its names. */
  status(authority?: string | null): readonly FederationServerStatus[];
  /** All names that lead elsewhere, and where they lead now. */
  traces(): readonly Trace[];
  /** The node is another one than before (C-NODE-4). */
  nodeChanged(): void;
}
