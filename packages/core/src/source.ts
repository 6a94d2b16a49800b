import type { Entry, Interest } from "./resource.ts";
import type { ResourceType } from "./resource-type.ts";
import type { XdsError } from "./xds-error.ts";

/**
 * The read side: the cached state, as topics that a reader follows at its own pace.
 * Implemented by `@xdstp/cache`, and by thin filters over it (a policy, the view of one node).
 */
export interface ResourceSource {
  /** The revision of the newest transaction; 0 before the first. */
  readonly revision: number;
  /**
   * True when the first complete state is cached; a source that is filled on demand is ready at
   * once. Until then servers reject new streams with UNAVAILABLE (S-STREAM-9).
   */
  readonly ready: boolean;
  /** The authorities for which it answers (S-AUTH-8). Absent: all. */
  readonly authorities?: readonly string[] | undefined;
  /**
   * The source of which this one is a view for some clients. Both count the same revisions, and
   * client status, metrics and `waitForAck` of one cover the clients of the other. Absent: it is
   * not a view.
   */
  readonly viewOf?: ResourceSource | undefined;
  /**
   * The key that the clients of this view share, a text for people that client status shows. Absent
   * or undefined: the view has no key, or no view has content of its own now.
   */
  readonly viewKey?: string | undefined;
  /**
   * Returns whether a revision may have changed something for the clients of this view. false: it
   * changed only what clients of other views see, so a wait for the ACKs of that revision does not
   * include the clients of this view.
   * Absent: every revision may have.
   */
  changedBy?: ((revision: number) => boolean) | undefined;
  /**
   * Returns the descriptor of a type. If it is undefined and no resource of the type was ever
   * cached, the type is not served (S-STREAM-8).
   */
  descriptor(typeUrl: string): ResourceType | undefined;
  /** Returns true if the type has a descriptor, or a resource of it is or was cached. */
  serves(typeUrl: string): boolean;
  /**
   * Returns the topic of an interest. While it is watched, equal spelling and parameters give the
   * same object. The exception is a topic with a resource that may not be stored (`noStore`): a
   * later reader has to wait for a newer answer (B-RELAY-11). Topics whose names are equal by N-40
   * share resources, but each answers in its own spelling (N-42).
   * For a name with variants, the topic has the variant that matches the parameters (B-DYN-3); if
   * several match, it has none, and an error (S-DYN-8).
   * Never throws: an invalid interest gives a topic that settles as empty.
   */
  topic(typeUrl: string, interest: Interest): Topic;
  /**
   * Returns a name as it was at a revision: its newest entry up to that revision, if it is still
   * stored. Client status shows with it what a client uses that is behind or has rejected the newer
   * state (B-CSDS-2); no decision depends on it. Absent: replaced entries are not stored.
   */
  asOf?: ((typeUrl: string, name: string, revision: number) => Entry | undefined) | undefined;
}

/**
 * A compacted log of the names that one interest covers: each name once, at its newest revision,
 * with tombstones for a bounded time.
 */
export interface Topic {
  /** The interest, as it is spelled. */
  readonly interest: Interest;
  /** True when the first complete answer is known. Conclude nothing from absence before that. */
  readonly settled: boolean;
  /**
   * The reason why the topic cannot be updated at present. Cached resources stay valid. Absent: the
   * supply works.
   */
  readonly stale?: XdsError | undefined;
  /** The revision of the newest entry. It also moves when the topic settles. */
  readonly head: number;
  /**
   * The author's label of the transaction that last moved `head` ({@link Transaction.label}); it
   * replaces the content version in SotW.
   */
  readonly label?: string | undefined;
  /**
   * The sum of {@link StoredResource.hash} over the members, modulo 2^52; updated in O(1) per
   * change.
   */
  readonly hash: number;
  /**
   * Returns the entries newer than `after`, oldest first, one per name. Two values of `after` with
   * no entry between them give the same array, so its identity can be the key of encoded bytes.
   * undefined: the history since `after` is not stored any more. A delta stream then ends with
   * UNAVAILABLE, and the client reconnects with its versions; SotW with full state continues from
   * `members()`.
   */
  changes(after: number): readonly Entry[] | undefined;
  /**
   * Returns the entries of everything that exists now; the same array until `head` moves.
   * A settled, empty topic of an exact name or a glob has one entry without a resource, under the
   * interest's own name and with its error. That of `*` has none.
   */
  members(): readonly Entry[];
  /** Returns the entry of a name (any spelling) that exists and that this topic covers; O(1). */
  get(name: string): Entry | undefined;
  /**
   * Returns removals within the tombstone window of names that this topic covered and that were not
   * put again; for clients that do not report what they have (S-RECON-10).
   */
  removed(): readonly Entry[];
  /**
   * Returns the removed variants (TP2) of a name (any spelling) within the tombstone window, as far
   * as this topic covered them. A server needs them when it sends the name again to a client that
   * may have one of them (S-DYN-5).
   * Absent, or an empty array: the name has no variants.
   */
  gone?(name: string): readonly Entry[];
  /** Starts to wake a watcher. Never calls back before it returns. Watching twice counts once. */
  watch(watcher: Watcher): void;
  /** Stops waking a watcher; one that does not watch is ignored. */
  unwatch(watcher: Watcher): void;
}

/** A listener for changes of a topic. */
export interface Watcher {
  /**
   * Called when `head`, `settled` or `stale` has changed and the whole transaction is visible. Only
   * mark and schedule here. A wake without new entries is normal.
   */
  wake(topic: Topic): void;
}
