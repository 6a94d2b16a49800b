import type {
  BackoffOptions,
  Clock,
  Committed,
  Rejection,
  Entry,
  Interest,
  Resource,
  ResourceFeed,
  ResourceSink,
  ResourceSource,
  ResourceType,
  Transaction,
  XdsError,
} from "@xdstp/core";

import type { Author } from "./author.ts";
import type { CacheEvent } from "./cache-event.ts";

/** Options of {@link createCache}. */
export interface CacheOptions {
  /** The data of the types that differ from the defaults. Others may be held too (B-STREAM-4). */
  readonly types?: readonly ResourceType[];
  /** The authorities it answers for: names of others are missing, and cannot be put (S-AUTH-8). Absent: any. */
  readonly authorities?: readonly string[];
  /** Keys of context parameters that are dropped from an exact name before it is looked up; the answer still has the name that was asked (S-CTX-4). Absent: none, parameters are matched exactly. */
  readonly ignoredParameters?: readonly string[];
  /** Whether `*` covers a name. Absent: opaque names, and xdstp names without context parameters (S-WILD-8). It has to give the same answer for a name each time. */
  readonly wildcard?: (typeUrl: string, name: string) => boolean;
  /** Whether names with directives (`alt`, `entry`) may be asked for and put, for a client whose feed follows them. Each is a name of its own. Absent: false, they are not names (N-18). */
  readonly directives?: boolean;
  /** How long, in milliseconds, a subscription at the feeds outlives its last reader. Resources with `noStore` do not linger (B-RELAY-11). Absent: 0; a relay takes 60,000 (B-RELAY-8). */
  readonly lingerMs?: number;
  /** How long, in milliseconds, a removal is remembered for readers that are behind. Absent: 600,000 (S-RECON-10). */
  readonly tombstoneMs?: number;
  /** How many removals of a type are remembered at most. Absent: 100,000. */
  readonly tombstoneCount?: number;
  /** How many bytes of a type are kept of what newer states have replaced, for who is behind: client status shows it (B-CSDS-2). By reference, the newest however large. Absent: 1 MiB, which costs a put a few per cent. 0: none, and nothing. */
  readonly replacedBytes?: number;
  /** A counter that several caches share, so that a reader may follow topics of all of them as if they were of one. Absent: its own. */
  readonly revisions?: {
    /** Revision of the newest transaction of them all; 0 before the first. Written by the caches alone. */
    last: number;
  };
  /** Absent: the clock of the machine. */
  readonly clock?: Clock;
  /** Told what an operator should know. It must not throw. */
  readonly onEvent?: (event: CacheEvent) => void;
}

/** The one place that indexes, numbers and shares resources: feeds and authors write, readers follow topics. */
export interface Cache extends ResourceSource, ResourceSink, Author, AsyncDisposable {
  /** As the contract says, and at once. */
  commit(transaction: Transaction): Committed;
  /** What `commit` would reject of a transaction; nothing changes. */
  checkCommit(transaction: Transaction): readonly Rejection[];
  /** A name as it was at a revision, as far as what was replaced is kept (`replacedBytes`). */
  asOf(typeUrl: string, name: string, revision: number): Entry | undefined;
  /** Runs a feed until the cache or the handle is closed, or until it fails unless it is to be restarted; of a closed cache it ends at once. */
  addFeed(
    feed: ResourceFeed,
    options?: {
      /**
       * Runs the feed again after it has failed. The waits grow and have jitter; after a commit they begin again. `true`: 1 s, then 1.6 times as long each time, up to 120 s.
       * Absent or false: a feed that fails has ended. Give it only where `run` can be called again.
       */
      readonly restart?:
        | boolean
        | (BackoffOptions & {
            /** Gives numbers from 0 up to 1, for the jitter. Absent: `Math.random`. */
            readonly random?: () => number;
          });
    },
  ): FeedHandle;
  /**
   * Registers a check: `commit` calls it with each resource that is put under this type and name (a glob and `*` mean all that they cover). It returns why the resource is rejected, or undefined.
   * What one check rejects stays as it was. Returns a function that takes the check away.
   */
  check(
    typeUrl: string,
    interest: Interest,
    check: (resource: Resource, name: string) => XdsError | undefined,
  ): () => void;
  /** What the cache holds and has counted. */
  readonly counters: {
    /** Puts whose version had come with other bytes before (B-VER-5). */
    readonly reusedVersions: number;
    /** Puts whose aliases were ignored (B-ALIAS-4). */
    readonly ignoredAliases: number;
    /** Names whose variants came not to exclude each other (S-DYN-8). */
    readonly overlappingVariants: number;
    /** Puts that were rejected. */
    readonly rejected: number;
    /** The number of cached resources. */
    readonly resources: number;
    /** Removals remembered. */
    readonly tombstones: number;
    /** Topics with watchers. */
    readonly topics: number;
  };
  /** The type URLs of what it holds. */
  readonly typeUrls: readonly string[];
  /** Stops all feeds and timers; resolves when the feeds have ended. The content can still be read. */
  close(): Promise<void>;
}

/** A feed that runs. */
export interface FeedHandle extends AsyncDisposable {
  /** Resolves when the feed has ended: with its error, or undefined if it was closed or had nothing more to say. Never rejects. */
  readonly ended: Promise<XdsError | undefined>;
  /** Stops it; what it gave is kept. Resolves when it has ended. */
  close(): Promise<void>;
}
