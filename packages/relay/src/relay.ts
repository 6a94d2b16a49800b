import type { AnyBootstrap, BootstrapNode, Channels, NodeOptions } from "@xdstp/bootstrap";
import type { Cache, CacheEvent } from "@xdstp/cache";
import type {
  BackoffOptions,
  Clock,
  NodeClaim,
  PeerIdentity,
  ResourceSource,
  ResourceType,
  XdsError,
} from "@xdstp/core";
import type { ClientNotice, Federation, FederationEvent } from "@xdstp/federation";
import type { ClientLimits } from "@xdstp/protocol/client";
import type { ListeningSource, RejectedVersion } from "@xdstp/protocol/server";
import type { QuorumOptions } from "@xdstp/rollout";

import type { Snapshot, SnapshotEvent, SnapshotOptions } from "@xdstp/snapshot";

/** Options of {@link createRelay}. Each has a default. */
export interface RelayOptions extends NodeOptions {
  /**
   * The servers upstream, and the node of the relay itself (B-RELAY-4). Default: the bootstrap that
   * the environment names (C-GRPC-1).
   */
  readonly bootstrap?: AnyBootstrap;
  /** The variant of xDS for servers upstream whose configuration has none. Default: `delta`. */
  readonly variant?: "delta" | "sotw";
  /**
   * True if redirects and directives are followed. If false, they are passed on unchanged
   * (B-RELAY-14). Default: false.
   */
  readonly follow?: boolean;
  /**
   * The fields of a client's node that the resources of opaque names and of `*` depend on
   * (B-RELAY-2): `id`, `cluster`, `user_agent_name`, `locality.region`, `locality.zone`,
   * `locality.sub_zone`, `metadata.KEY` or `metadata.KEY.KEY`.
   * Clients with equal values share the resources that upstream sends to the node of the relay with
   * these values. With an empty list, all clients share them.
   * A node is a claim: use `authorize` to decide which names a client may see. Default: such names
   * are rejected with a reason, and `*` is not answered.
   */
  readonly opaqueKey?: readonly string[];
  /**
   * The maximum number of groups of clients with equal `opaqueKey` values that subscribe to opaque
   * names at a time. Names of further groups are RESOURCE_EXHAUSTED until a group has ended.
   * Default: 100.
   */
  readonly maxTenants?: number;
  /**
   * Some clients receive a change before all others. If one of them rejects it, the change is
   * rejected upstream and sent to no other client (B-RELAY-5). Needs a second cache.
   * Default: a resource is acknowledged upstream when it is cached, and rejections of clients are
   * counted ({@link Relay.rejections}).
   */
  readonly quorum?: QuorumOptions;
  /**
   * Stores the resources of upstream on disk. After a restart the relay serves them, marked as
   * stale with their age, until upstream answers (B-RELAY-9). The relay also closes a snapshot that
   * is passed open. Needs Node 22.13 or newer.
   * Default: none; the cache is empty after a start.
   */
  readonly snapshot?: Snapshot | SnapshotOptions;
  /**
   * The maximum number of names, globs and `*` of one type that the relay subscribes to at each
   * server upstream at a time, for all clients. The limit for all types is twice this number, and
   * the limit for globs of one type is a tenth of it.
   * A server closes a stream with more names than it accepts, and all clients share this stream. So a
   * name beyond the limit is RESOURCE_EXHAUSTED until other names have ended. The room of a name is
   * free one second after its end.
   * The names of one type may also have 12 MiB at most; more in proportion, if `upstreamNames` is
   * above the default. A stream has 64 types at most: those of `types`, and the first other types
   * that were subscribed.
   * Default: 100,000, with 200,000 of all types and 1,000 globs, the limits of `createServer`.
   */
  readonly upstreamNames?: number;
  /**
   * Milliseconds until the relay unsubscribes upstream from a name without subscribers (B-RELAY-8).
   * Default: 60,000.
   */
  readonly lingerMs?: number;
  /** The resource types. Default: the types of Envoy. */
  readonly types?: readonly ResourceType[];
  /** The delays between streams. Default: the delays of gRPC. */
  readonly backoff?: BackoffOptions;
  /** Limits on what a server may send. Each one given here replaces its default. */
  readonly limits?: Partial<ClientLimits>;
  /**
   * Milliseconds after which a resource without a response from upstream counts as missing
   * (C-MISS-4). Default: 15,000.
   */
  readonly fetchMs?: number;
  /** Channels that this relay shares with others. Default: its own. */
  readonly channels?: Channels;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** Returns a number from 0 up to 1, for jitter. Default: `Math.random`. */
  readonly random?: () => number;
  /** Receives the events of the relay. It must not throw. */
  readonly onEvent?: (event: RelayEvent | ClientNotice) => void;
}

/** A relay without its server: `createServer({ ...relay.serving })` serves its resources. */
export interface Relay extends AsyncDisposable {
  /** The sources that are served. */
  readonly serving: {
    /** The source for all clients, or for clients without a node. It receives their answers. */
    readonly source: ListeningSource;
    /**
     * Returns the source of a client: the same object for clients with equal `opaqueKey` values;
     * with a quorum, a view of it for each stream. Absent: `source` is for all clients.
     */
    readonly sourceFor?: (peer: {
      /** The node in the first message. Absent: there is none. */
      readonly node?: NodeClaim;
      /** The identity that the transport has verified. */
      readonly identity?: PeerIdentity;
      /** The gRPC method. */
      readonly path?: string;
    }) => ResourceSource;
  };
  /**
   * The source for clients without a node: all resources except the opaque names of tenants.
   * Reading it subscribes, as a client does.
   */
  readonly source: ListeningSource;
  /** The shared cache, for observers. */
  readonly cache: Cache;
  /** The shared federation: the servers upstream. */
  readonly federation: Pick<Federation, "status" | "traces">;
  /**
   * Returns the tenants that have opaque names (B-RELAY-2). A tenant is a group of clients with
   * equal `opaqueKey` values.
   */
  tenants(): readonly {
    /** The values of the fields of `opaqueKey`. `null`: the node does not have the field. */
    readonly values: Readonly<NonNullable<BootstrapNode["metadata"]>>;
    /** The cache of the opaque names of the tenant. */
    readonly cache: Cache;
    /** The servers upstream as the tenant uses them: status and traces. */
    readonly federation: Pick<Federation, "status" | "traces">;
    /**
     * True while there are more tenants than `maxTenants`: the relay does not subscribe upstream
     * for this one until another has ended.
     */
    readonly waiting: boolean;
  }[];
  /**
   * Returns the state of each server upstream. The cost grows with the number of subscribed names.
   */
  status(): {
    /** Every server that is configured or was used, in order. */
    readonly upstreams: readonly UpstreamStatus[];
  };
  /**
   * Returns the versions that clients have rejected, newest first; at most the last 1,000
   * (B-RELAY-5).
   */
  rejections(): readonly RejectedVersion[];
  /** Ends the streams upstream. The content can still be read, so close the server first. */
  close(): Promise<void>;
}

/** One server upstream. Times are milliseconds since the epoch. */
export interface UpstreamStatus {
  /** Equal for equal configurations. */
  readonly id: string;
  /** Its URI. */
  readonly name: string;
  /** The authorities that it is configured for, as names spell them. */
  readonly authorities: readonly string[];
  /** True if it has the opaque names, or all names without another server. */
  readonly isDefault: boolean;
  /** `idle`: nothing is subscribed. `connecting`: no response has arrived on its stream yet. */
  readonly state: "idle" | "connecting" | "answering" | "unreachable";
  /** The time of its last response. Absent: there was none. */
  readonly lastWordAt?: number;
  /**
   * The time since when its cached resources may be out of date: its stream has ended, and no
   * response has arrived since. After a restart it is the time of the snapshot, until a response
   * arrives. Absent: the resources are up to date.
   */
  readonly staleSince?: number;
  /** The reason why it cannot be reached. */
  readonly failure?: XdsError;
  /**
   * The number of subscriptions of clients to names of this server since the relay was created.
   * Servers of the same authorities share the count.
   */
  readonly lookUps: {
    /** Subscriptions that were answered at once from the cache. */
    readonly held: number;
    /** Subscriptions that had to wait for upstream. */
    readonly asked: number;
  };
}

/** An event for operators of a relay. Events of streams upstream are `ClientNotice`s. */
export type RelayEvent =
  | CacheEvent
  | FederationEvent
  | SnapshotEvent
  /**
   * Clients subscribe to opaque names, and there is no `opaqueKey` (B-RELAY-2). Reported once per
   * type and turn, for names without earlier subscribers.
   */
  | {
      readonly kind: "opaque-rejected";
      readonly typeUrl: string;
      readonly names: readonly string[];
      readonly reason: string;
    }
  /**
   * Clients with these values of `opaqueKey` have to wait, since there are more than `maxTenants`
   * groups.
   */
  | {
      readonly kind: "tenant-rejected";
      readonly values: Readonly<NonNullable<BootstrapNode["metadata"]>>;
      readonly reason: string;
    }
  /** Clients subscribe to more names than the relay subscribes to at a server upstream (`upstreamNames`): these have to wait. Reported once per type and turn. */
  | {
      readonly kind: "upstream-full";
      /** The URI of the server. */
      readonly server: string;
      readonly typeUrl: string;
      /** The names that have to wait. */
      readonly names: readonly string[];
      /** The limit that is reached, and the option that raises it. */
      readonly reason: string;
    }
  /** A client has rejected a version of a resource. Reported once for each version and client (B-RELAY-5). */
  | {
      readonly kind: "resource-rejected";
      readonly typeUrl: string;
      readonly name: string;
      /** Empty: the removal of the resource was rejected. */
      readonly version: string;
      /** The name in the certificate, else the id of the node, else the address. */
      readonly client: string;
      /**
       * The number of changes in the response. A client answers a response as a whole, so only with
       * 1 is it certain that this resource was rejected. At most the first 100 of a response are
       * reported.
       */
      readonly among: number;
      /** The error text of the client: untrusted, not escaped (S-ACK-15). */
      readonly reason: string;
    };
