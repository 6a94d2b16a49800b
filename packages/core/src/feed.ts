import type { Interest, Resource, Scope, StoredResource } from "./resource.ts";
import type { XdsError } from "./xds-error.ts";

/**
 * The write side: supplies resources from some place, such as a folder or a server. Anyone may
 * implement it.
 */
export interface ResourceFeed {
  /**
   * Runs until `signal` aborts; rejects if it cannot continue. The cache calls it once, or, with
   * its option to restart feeds, again after each rejection. Two runs never overlap.
   * The cache may have called `want` before.
   */
  run(sink: ResourceSink, signal: AbortSignal): Promise<void>;
  /**
   * Reports which interests readers have added and dropped. Called at most once per type and turn
   * of the event loop, possibly before `run`. Absent: the feed supplies everything that it has.
   */
  want?(typeUrl: string, added: readonly Interest[], dropped: readonly Interest[]): void;
}

/** Accepts what a feed supplies. The cache implements it. */
export interface ResourceSink {
  /**
   * Applies a transaction; see {@link Transaction}. Throws only if the transaction is malformed,
   * for instance if a name occurs twice.
   */
  commit(transaction: Transaction): Committed;
  /**
   * Returns the rejections that `commit` would return, and changes nothing. For a feed with several
   * sinks that applies a batch to all of them or to none. Absent: only `commit` can tell.
   */
  checkCommit?: ((transaction: Transaction) => readonly Rejection[]) | undefined;
  /**
   * Prepares the put of a resource, for example by encoding it, so that the `commit` that puts this same object blocks for less time. It does not throw, and readers see no change.
   * Use it in a feed that puts tens of megabytes in one transaction. Absent: the sink does not prepare resources.
   */
  prepare?: ((resource: Resource) => void) | undefined;
  /**
   * Returns the cached names and versions, so that a feed does not need a map of its own
   * (C-RECON-3). Without an interest: all of the type.
   */
  held(typeUrl: string, interest?: Interest): Iterable<Held>;
  /**
   * Reports that this scope cannot be fetched for now; cached resources stay. An error of undefined
   * ends that state.
   * Each call with an error is a report of its own: it wakes the watchers of the scope even if the
   * error has the same text as the one before.
   */
  unavailable(scope: Scope, error: XdsError | undefined): void;
  /**
   * Creates a sink for one of several places from which a feed gets its resources, for instance one
   * of its servers. `held`, `complete` and `unavailable` of that sink concern this place alone.
   * Absent: this sink does not tell places apart.
   */
  part?: (() => ResourceSink) | undefined;
}

/** One cached resource. */
export interface Held {
  /** The name, as it was put. */
  readonly name: string;
  /** As its feed gave it, or derived from the content where that gave none (S-VER-4). */
  readonly version: string;
  /** The constraints of this variant of the name (TP2). Absent: it has none. */
  readonly constraints?: Uint8Array;
  /** The cached resource. Absent: this sink does not give it. */
  readonly resource?: StoredResource;
  /**
   * Milliseconds until the resource is removed unless it is put or refreshed before. Absent: it is
   * not removed by time.
   */
  readonly expireMs?: number;
  /**
   * Set if another server has given the resource in place of this one (C-GRPC-6). `true`: that
   * server still replaces this one. `false`: it no longer does, so the resource is dropped unless
   * this server gives it too. Absent: this server, or one with a higher preference, has given it.
   */
  readonly standIn?: boolean;
  /**
   * True if the sink belongs to several readers, and one of them that waits for the resource does
   * not have it. Absent: all of them have it.
   */
  readonly lacking?: boolean;
}

/** One resource to put. */
export interface Put {
  /** The type URL under which the resource is requested. */
  readonly typeUrl: string;
  /** The whole resource. It replaces a resource of the same name. */
  readonly resource: Resource;
  /** The requested name, if the resource was reached by a link (redirect, `alt`, `entry`). */
  readonly as?: string;
}

/** One name to remove. */
export interface Removal {
  /** The type URL of the resource that is removed. */
  readonly typeUrl: string;
  /** The name, in any spelling (N-40). */
  readonly name: string;
  /**
   * The constraints of the variant to remove (TP2); other variants of the name stay. Absent: the
   * variant without constraints.
   */
  readonly constraints?: Uint8Array;
  /** Why the resource does not exist, if that is known. */
  readonly error?: XdsError;
}

/** A cached resource to keep for longer. */
export interface Refresh {
  /** The type URL of the resource that stays. */
  readonly typeUrl: string;
  /** The name, in any spelling (N-40). */
  readonly name: string;
  /** The constraints of the variant (TP2). Absent: the variant without constraints. */
  readonly constraints?: Uint8Array;
  /**
   * Milliseconds from now until the resource is removed, as {@link Resource.expireMs}. Absent: it
   * is not removed by time.
   */
  readonly expireMs?: number;
}

/** An interest with its type. */
export interface TypedInterest {
  /** The type URL of the interest. */
  readonly typeUrl: string;
  /** The name, glob or `*`, with its parameters. */
  readonly interest: Interest;
  /**
   * For `settled`: true if no server has confirmed the answer, and it was concluded after a time
   * limit (C-MISS-4). Absent: a server has confirmed it.
   */
  readonly timedOut?: boolean;
  /**
   * For a glob without members: the reason why it has none (S-ERR-5). Ignored for other interests.
   * Absent: the glob is empty.
   */
  readonly error?: XdsError;
}

/**
 * One revision: readers see all of it at once, over all types. A name (N-40) occurs at most once,
 * or at most once per set of constraints (TP2).
 * A resource that a check of the resource type or of a reader rejects keeps its previous state.
 */
export interface Transaction {
  /** Resources that are new or changed. Absent: none. */
  readonly put?: readonly Put[];
  /** Names to remove; a name that is not cached is ignored. Absent: none. */
  readonly remove?: readonly Removal[];
  /**
   * Heartbeats (C-TTL-3): the time to live of these resources starts again. Readers do not see a
   * change, and names that are not cached are ignored. Absent: none.
   */
  readonly refresh?: readonly Refresh[];
  /**
   * Interests of which `put` has all resources: other resources that they cover are removed. Also
   * settles them.
   */
  readonly complete?: readonly TypedInterest[];
  /**
   * Interests that are completely known with this transaction. Exact names are settled by `put` and
   * `remove`.
   */
  readonly settled?: readonly TypedInterest[];
  /** True: one rejection rejects the whole transaction. Absent: false. */
  readonly atomic?: boolean;
  /** The `version_info` that the author chose. */
  readonly label?: string;
}

/** One resource that was rejected. */
export interface Rejection {
  /** The type URL of the resource that is rejected. */
  readonly typeUrl: string;
  /** The name under which the resource was to be cached, as the feed gave it. */
  readonly name: string;
  /** The reason; an upstream server is sent its text. */
  readonly error: XdsError;
}

/**
 * The outcome of a transaction. Without rejections the feed sends an ACK, otherwise a NACK with the
 * rejected names.
 */
export interface Committed {
  /**
   * The revision of the transaction. For an atomic transaction that was rejected: the revision
   * before it.
   */
  readonly revision: number;
  /** The rejected resources. Absent: all were accepted. */
  readonly rejected?: readonly Rejection[];
  /**
   * Settles when every watcher that counts has applied the update: only then does the feed send the
   * ACK and read on (C-ACK-13). Absent in a relay.
   */
  readonly taken?: Promise<void>;
  /**
   * Present while clients vote on a part of the transaction (a quorum): resolves with the outcome
   * of the whole transaction. Until then the other members cover the rest only.
   */
  readonly decided?: Promise<Committed>;
}

/**
 * Calls `next` with the outcome of a transaction: at once, or when the votes are counted
 * ({@link Committed.decided}).
 *
 * @returns What `next` returns. While votes are pending: the same outcome, with a `decided` that
 * resolves with what `next` returns
 */
export function whenDecided(
  committed: Committed,
  next: (decided: Committed) => Committed,
): Committed {
  const { decided } = committed;
  return decided === undefined ? next(committed) : { ...committed, decided: decided.then(next) };
}
