import type { Interest, Resource, Scope, StoredResource } from "./resource.ts";
import type { XdsError } from "./xds-error.ts";

/** The write side: says what came from somewhere. Anyone may implement it. */
export interface ResourceFeed {
  /**
   * Runs until `signal` aborts, or rejects when it cannot go on. Called once, unless the cache has an option to restart it: then again after each rejection, never twice at a time.
   * The cache may have called `want` before.
   */
  run(sink: ResourceSink, signal: AbortSignal): Promise<void>;
  /** What readers have begun and ceased to want; at most once per type and turn, and possibly before `run`. Absent: the feed pushes all it has. */
  want?(typeUrl: string, added: readonly Interest[], dropped: readonly Interest[]): void;
}

/** Where a feed puts what came. Implemented by the cache. */
export interface ResourceSink {
  /** Applies a transaction; see {@link Transaction}. Throws only for a transaction that breaks its own rules (a name twice). */
  commit(transaction: Transaction): Committed;
  /** What `commit` would reject of a transaction; nothing changes. For a feed with several sinks whose batch is all or nothing. Absent: only `commit` knows. */
  checkCommit?: ((transaction: Transaction) => readonly Rejection[]) | undefined;
  /**
   * Prepares the put of a resource, for example by encoding it, so that the `commit` that puts this same object blocks for less time. It does not throw, and readers see no change.
   * Use it in a feed that puts tens of megabytes in one transaction. Absent: the sink does not prepare resources.
   */
  prepare?: ((resource: Resource) => void) | undefined;
  /** Names and versions held, so that no feed keeps a second map (C-RECON-3). Without an interest: all of the type. */
  held(typeUrl: string, interest?: Interest): Iterable<Held>;
  /**
   * Something in this scope cannot be fetched for now; what is cached stays. undefined clears it.
   * Each call with an error is a report of its own, which wakes the watchers of the scope, also where it has the text of the one before.
   */
  unavailable(scope: Scope, error: XdsError | undefined): void;
  /**
   * A sink of its own for one of several places that a feed has what it gives from: `held`, `complete` and what is unavailable there concern that place alone.
   * Absent: this sink keeps no such books.
   */
  part?: (() => ResourceSink) | undefined;
}

/** One cached resource. */
export interface Held {
  /** Its name, as it was put. */
  readonly name: string;
  /** As its feed gave it, or derived from the content where that gave none (S-VER-4). */
  readonly version: string;
  /** Which variant of the name (TP2). Absent: it has no constraints. */
  readonly constraints?: Uint8Array;
  /** What is cached. Absent: this sink does not say. */
  readonly resource?: StoredResource;
  /** Milliseconds until it is removed unless it is put or refreshed before. Absent: it stays. */
  readonly expireMs?: number;
  /** Another server has given it instead of this one. `true`: that server still replaces this one. `false`: it does not any more, so the resource is dropped unless this server gives it too (C-GRPC-6). Absent: this server has given it, or one with a higher preference. */
  readonly standIn?: boolean;
  /** The sink is that of several readers, and one of them that waits for it has nothing of it. Absent: all of them have it. */
  readonly lacking?: boolean;
}

/** One resource to put. */
export interface Put {
  /** The type that it is requested under. */
  readonly typeUrl: string;
  /** What is put, whole; it takes the place of what had its name. */
  readonly resource: Resource;
  /** The name asked for, where the resource was reached by a link (redirect, `alt`, `entry`). */
  readonly as?: string;
}

/** One name to remove. */
export interface Removal {
  /** The type URL of the resource that is removed. */
  readonly typeUrl: string;
  /** In any spelling (N-40). */
  readonly name: string;
  /** Which variant (TP2): the others of the name stay. Absent: the one without constraints. */
  readonly constraints?: Uint8Array;
  /** Why there is none, where that is known. */
  readonly error?: XdsError;
}

/** A cached resource stays cached. */
export interface Refresh {
  /** The type URL of the resource that stays. */
  readonly typeUrl: string;
  /** In any spelling (N-40). */
  readonly name: string;
  /** Which variant (TP2). Absent: the one without constraints. */
  readonly constraints?: Uint8Array;
  /** Milliseconds from now after which it is removed, as {@link Resource.expireMs}. Absent: it stays. */
  readonly expireMs?: number;
}

/** An interest of a type. */
export interface TypedInterest {
  /** The type URL of the interest. */
  readonly typeUrl: string;
  /** The name, glob or `*`, with its parameters. */
  readonly interest: Interest;
  /** For settled names: no server has said so, nothing has come in time (C-MISS-4). Absent: a server said it. */
  readonly timedOut?: boolean;
  /** Of a glob of which nothing is put or held: why there is nothing (S-ERR-5). Of others it says nothing. Absent: it is empty. */
  readonly error?: XdsError;
}

/**
 * One revision, visible at once as a whole over all types. A name (N-40) occurs at most once in it, or once with each of its constraints (TP2).
 * What a descriptor's or a reader's check rejects stays as it was.
 */
export interface Transaction {
  /** What is new or changed. Absent: nothing. */
  readonly put?: readonly Put[];
  /** What goes; removing what is not there does nothing. Absent: nothing. */
  readonly remove?: readonly Removal[];
  /** Heartbeats (C-TTL-3): the time of these begins again. Not a change to readers; names that are not cached are left out. Absent: none. */
  readonly refresh?: readonly Refresh[];
  /** `put` is all there is of these; the rest of what they cover is removed. Settles them. */
  readonly complete?: readonly TypedInterest[];
  /** These are known completely now. Exact names are settled by `put` and `remove`. */
  readonly settled?: readonly TypedInterest[];
  /** One rejection rejects all. Absent: false. */
  readonly atomic?: boolean;
  /** An author's `version_info`. */
  readonly label?: string;
}

/** One resource that was rejected. */
export interface Rejection {
  /** The type URL of the resource that is rejected. */
  readonly typeUrl: string;
  /** The name it was to be filed under, as it came. */
  readonly name: string;
  /** Why; an upstream is sent its text. */
  readonly error: XdsError;
}

/** What became of a transaction. Nothing rejected: ACK; else a NACK with these names. */
export interface Committed {
  /** That of the transaction; where all of it was rejected and it is atomic, the one before. */
  readonly revision: number;
  /** Absent: all was taken. */
  readonly rejected?: readonly Rejection[];
  /** Settles when every watcher that counts has taken the update: the feed ACKs at once and reads on only then (C-ACK-13). Absent in a relay. */
  readonly taken?: Promise<void>;
  /** Present while clients vote on some of it (a quorum): what became of all of it, once that is decided. Until then the other members cover only the rest. */
  readonly decided?: Promise<Committed>;
}

/**
 * Calls `next` with what became of a transaction: at once, or when its votes are in ({@link Committed.decided}).
 *
 * @returns What `next` returns; while the votes are not in, the same commit, which is decided as `next` returns then
 */
export function whenDecided(
  committed: Committed,
  next: (decided: Committed) => Committed,
): Committed {
  const { decided } = committed;
  return decided === undefined ? next(committed) : { ...committed, decided: decided.then(next) };
}
