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

/** The options of {@link createCache}. */
export interface CacheOptions {
  /**
   * Descriptors of the types that differ from the defaults. Other types may be cached too
   * (B-STREAM-4). Absent: none.
   */
  readonly types?: readonly ResourceType[];
  /**
   * The authorities for which it answers: names of other authorities are missing, and cannot be put
   * (S-AUTH-8). Absent: all.
   */
  readonly authorities?: readonly string[];
  /**
   * Keys of context parameters that are removed from an exact name before it is looked up; the
   * answer has the requested name (S-CTX-4). Absent: none, parameters have to match exactly.
   */
  readonly ignoredParameters?: readonly string[];
  /**
   * Returns whether `*` covers a name. It has to return the same for a name each time. Absent: `*`
   * covers opaque names, and xdstp names without context parameters (S-WILD-8).
   */
  readonly wildcard?: (typeUrl: string, name: string) => boolean;
  /**
   * True if names with directives (`alt`, `entry`) can be subscribed and put, for a client whose
   * feed follows them. Each is a name of its own. Absent: false, they are not valid names (N-18).
   */
  readonly directives?: boolean;
  /**
   * Milliseconds for which a subscription at the feeds is kept after its last reader has ended.
   * Resources with `noStore` do not linger (B-RELAY-11). Absent: 0; a relay uses 60,000
   * (B-RELAY-8).
   */
  readonly lingerMs?: number;
  /**
   * Milliseconds for which a removal is kept for readers that are behind. Absent: 600,000
   * (S-RECON-10).
   */
  readonly tombstoneMs?: number;
  /** The greatest number of removals of a type that are kept. Absent: 100,000. */
  readonly tombstoneCount?: number;
  /**
   * The number of bytes of replaced resources that are kept per type, so that client status can
   * show what a client that is behind uses (B-CSDS-2). The newest one is kept whatever its size.
   * They are kept by reference, and a put costs a few per cent more. Absent: 1 MiB. 0: none are
   * kept.
   */
  readonly replacedBytes?: number;
  /**
   * A counter that several caches share, so that their revisions form one sequence and a reader can
   * follow topics of all of them. Absent: a counter of its own.
   */
  readonly revisions?: {
    /**
     * The revision of the newest transaction of all these caches; 0 before the first. Only the
     * caches write it.
     */
    last: number;
  };
  /** The clock of all timers. Absent: the clock of the machine. */
  readonly clock?: Clock;
  /** Receives events for operators. It must not throw. Absent: no listener. */
  readonly onEvent?: (event: CacheEvent) => void;
}

/** Indexes, numbers and shares resources: feeds and authors write, readers follow topics. */
export interface Cache extends ResourceSource, ResourceSink, Author, AsyncDisposable {
  /** Applies a transaction at once; see `ResourceSink.commit` of `@xdstp/core`. */
  commit(transaction: Transaction): Committed;
  /** Returns the rejections that `commit` would return, and changes nothing. */
  checkCommit(transaction: Transaction): readonly Rejection[];
  /**
   * Returns a name as it was at a revision, as far as replaced entries are kept (`replacedBytes`).
   */
  asOf(typeUrl: string, name: string, revision: number): Entry | undefined;
  /**
   * Runs a feed until the cache or the handle is closed, or until the feed fails and is not
   * restarted. In a closed cache the feed ends at once.
   */
  addFeed(
    feed: ResourceFeed,
    options?: {
      /**
       * Runs the feed again after it has failed. The waits grow and have jitter; after a commit
       * they start again. `true`: the first wait is 1 s, each further one 1.6 times as long, up to
       * 120 s.
       * Absent or false: a feed that fails has ended. Set it only if `run` can be called again.
       */
      readonly restart?:
        | boolean
        | (BackoffOptions & {
            /**
             * Returns numbers from 0 up to, not including, 1, for the jitter. Absent:
             * `Math.random`.
             */
            readonly random?: () => number;
          });
    },
  ): FeedHandle;
  /**
   * Registers a check: `commit` calls it with each resource that is put under this type and name (a
   * glob or `*` means all names that it covers). It returns why the resource is rejected, or
   * undefined.
   * A rejected resource keeps its previous state. Returns a function that removes the check.
   */
  check(
    typeUrl: string,
    interest: Interest,
    check: (resource: Resource, name: string) => XdsError | undefined,
  ): () => void;
  /** The number of cached objects, and counts since the cache was created. */
  readonly counters: {
    /** Puts whose version was used before for other content (B-VER-5). */
    readonly reusedVersions: number;
    /** Puts whose aliases were ignored (B-ALIAS-4). */
    readonly ignoredAliases: number;
    /** Names whose variants stopped excluding each other (S-DYN-8). */
    readonly overlappingVariants: number;
    /** Puts that were rejected. */
    readonly rejected: number;
    /** The number of cached resources. */
    readonly resources: number;
    /** Removals that are kept at present. */
    readonly tombstones: number;
    /** Topics with watchers, one for each spelling. */
    readonly topics: number;
  };
  /** The type URLs of the cached resources. */
  readonly typeUrls: readonly string[];
  /**
   * Stops all feeds and timers. Resolves when the feeds have ended. The content can still be read.
   */
  close(): Promise<void>;
}

/** A running feed. */
export interface FeedHandle extends AsyncDisposable {
  /**
   * Resolves when the feed has ended: with its error, or with undefined if it was closed or ended
   * by itself. Never rejects.
   */
  readonly ended: Promise<XdsError | undefined>;
  /** Stops the feed; its resources stay cached. Resolves when the feed has ended. */
  close(): Promise<void>;
}
