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

import type { Snapshot, SnapshotEvent, SnapshotOptions } from "./snapshot/snapshot.ts";

/** Options of {@link createRelay}: each has a default. */
export interface RelayOptions extends NodeOptions {
  /** Whom to ask, and as whom: the node of the relay is its own (B-RELAY-4). Default: the bootstrap that the environment names (C-GRPC-1). */
  readonly bootstrap?: AnyBootstrap;
  /** The variant of xDS that upstream servers are spoken to in, where their configuration does not say it. Default: `delta`. */
  readonly variant?: "delta" | "sotw";
  /** Whether redirects and directives are followed; else they are handed on as they are (B-RELAY-14). Default: false. */
  readonly follow?: boolean;
  /**
   * The fields of a client's node that the content of opaque names and of `*` depends on (B-RELAY-2): `id`, `cluster`, `user_agent_name`, `locality.region`, `locality.zone`, `locality.sub_zone`,
   * `metadata.KEY` or `metadata.KEY.KEY`. Clients that are equal in these share what upstream says to the node of the relay with their values; with no field, all clients do.
   * A node is a claim: what a client may see is decided by `authorize`. Default: such names are rejected, with a reason, and `*` is not answered.
   */
  readonly opaqueKey?: readonly string[];
  /** The number of kinds of clients, by `opaqueKey`, that have opaque names of their own at a time; names of more are RESOURCE_EXHAUSTED until one has ended. Default: 100. */
  readonly maxTenants?: number;
  /**
   * Some clients see what has changed before all others, and what one of them rejects is rejected upstream and sent to no other client (B-RELAY-5). Costs a second cache.
   * Default: what is stored is accepted upstream, and what clients reject is counted ({@link Relay.rejections}).
   */
  readonly quorum?: QuorumOptions;
  /**
   * What upstream has sent, on disk: after a restart it is served until upstream answers, marked as stale with its age (B-RELAY-9). The relay closes a snapshot that is passed open. It needs Node 22.13 or newer.
   * Default: none; a relay that starts has an empty cache.
   */
  readonly snapshot?: Snapshot | SnapshotOptions;
  /**
   * Names, globs and `*` of one type that are subscribed at each server upstream at a time, for all clients; twice as many of all types, and a tenth of them globs.
   * A server ends a stream that has more names than it accepts, and this stream is that of all clients. So for names beyond the limit clients get RESOURCE_EXHAUSTED until others have
   * ended; the room of a name comes back a second after its end. The same holds beyond 12 MiB of names of one type (more in proportion, where this is more than the default).
   * A stream has 64 types at most: those of `types`, and as many others as were subscribed first.
   * Default: 100,000, 200,000 of all types and 1,000 globs, as `createServer` accepts.
   */
  readonly upstreamNames?: number;
  /** Milliseconds that upstream is still asked for what no client wants any more (B-RELAY-8). Default: 60,000. */
  readonly lingerMs?: number;
  /** The data of types. Default: Envoy's. */
  readonly types?: readonly ResourceType[];
  /** How long to wait between streams. Default: as gRPC waits. */
  readonly backoff?: BackoffOptions;
  /** Overrides of what is taken from a server. */
  readonly limits?: Partial<ClientLimits>;
  /** Milliseconds after which what has not come from upstream does not exist (C-MISS-4). Default: 15,000. */
  readonly fetchMs?: number;
  /** Channels that this relay shares with others. Default: its own. */
  readonly channels?: Channels;
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
  /** From 0 up to 1, for jitter. Default: `Math.random`. */
  readonly random?: () => number;
  /** Told what happens. It must not throw. */
  readonly onEvent?: (event: RelayEvent | ClientNotice) => void;
}

/** A relay without its server: `createServer({ ...relay.serving })` serves what it has. */
export interface Relay extends AsyncDisposable {
  /** What is served, and to whom. */
  readonly serving: {
    /** For all clients, or those without a node. It listens to their answers. */
    readonly source: ListeningSource;
    /** Returns the source of a client: the same object for clients with the same `opaqueKey`; with a quorum, a view of that for each stream. Absent: `source` for all. */
    readonly sourceFor?: (peer: {
      /** As claimed in the first message. Absent: it has none. */
      readonly node?: NodeClaim;
      /** As its wire has verified it. */
      readonly identity?: PeerIdentity;
      /** The gRPC method. */
      readonly path?: string;
    }) => ResourceSource;
  };
  /** What is served to who has no node: all that upstream has but opaque names of others, asked for as clients ask. */
  readonly source: ListeningSource;
  /** What is cached for all, for observers. */
  readonly cache: Cache;
  /** Whom is asked upstream for all. */
  readonly federation: Pick<Federation, "status" | "traces">;
  /** Those that have opaque names of their own (B-RELAY-2): clients with one key each, and what is kept for them alone. */
  tenants(): readonly {
    /** What the fields of `opaqueKey` say of them; null: nothing. */
    readonly values: Readonly<NonNullable<BootstrapNode["metadata"]>>;
    /** Opaque names that are cached for them. */
    readonly cache: Cache;
    /** What the servers upstream say to them: status and traces. */
    readonly federation: Pick<Federation, "status" | "traces">;
    /** There are more than `maxTenants`: upstream is not asked for it before another one has ended. */
    readonly waiting: boolean;
  }[];
  /** Who is asked upstream, and how far that is from being answered here. At the cost of the names that are asked. */
  status(): {
    /** Every server that is configured or has been asked, in order. */
    readonly upstreams: readonly UpstreamStatus[];
  };
  /** What clients have rejected, newest first; the last 1,000 versions of resources (B-RELAY-5). */
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
  /** Those that it is configured for, as names write them. */
  readonly authorities: readonly string[];
  /** It has the opaque names, or all names without another server. */
  readonly isDefault: boolean;
  /** `idle`: nothing is asked of it. `connecting`: nothing has come on its stream yet. */
  readonly state: "idle" | "connecting" | "answering" | "unreachable";
  /** When a response of it came last. Absent: none has. */
  readonly lastWordAt?: number;
  /** Since when its cached resources may be out of date: its stream has ended, and nothing has come since. After a restart it is the time of the snapshot, until something comes. Absent: they are up to date. */
  readonly staleSince?: number;
  /** Why it cannot be reached. */
  readonly failure?: XdsError;
  /** How often clients began to ask for names that it is for, since the relay was made; it shares the count with the other servers of its authorities. */
  readonly lookUps: {
    /** Answered at once from the cache. */
    readonly held: number;
    /** Those that had to wait for upstream. */
    readonly asked: number;
  };
}

/** What an operator of a relay should know; what happens on the streams upstream is in the `ClientNotice`s. */
export type RelayEvent =
  | CacheEvent
  | FederationEvent
  | SnapshotEvent
  /** Clients subscribe to opaque names, and there is no key for these (B-RELAY-2). Reported once per type and turn, for names without earlier subscribers. */
  | {
      readonly kind: "opaque-rejected";
      readonly typeUrl: string;
      readonly names: readonly string[];
      readonly reason: string;
    }
  /** Clients with these values of `opaqueKey` have to wait: there are more than `maxTenants`. */
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
      /** Which limit is reached, and what raises it. */
      readonly reason: string;
    }
  /** A client has rejected a version of a resource. Reported once for each version and client (B-RELAY-5). */
  | {
      readonly kind: "resource-rejected";
      readonly typeUrl: string;
      readonly name: string;
      /** Empty: the removal of the resource. */
      readonly version: string;
      /** The name in the certificate, else the id of the node, else the address. */
      readonly client: string;
      /** The number of changes in the response, which a client answers as a whole: with 1 it is certain. At most the first 100 of a response are reported. */
      readonly among: number;
      /** The text of the client: untrusted, not escaped (S-ACK-15). */
      readonly reason: string;
    };
