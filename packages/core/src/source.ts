import type { Entry, Interest } from "./resource.ts";
import type { ResourceType } from "./resource-type.ts";
import type { XdsError } from "./xds-error.ts";

/**
 * The read side: what is, as topics that a reader follows at its own pace.
 * Implemented once, by `@xdstp/cache`, and by thin filters over it (a policy, a node's own view).
 */
export interface ResourceSource {
  /** Revision of the newest transaction; 0 before the first. */
  readonly revision: number;
  /** The first complete state is in (a source that is filled on demand: at once). Until then servers answer new streams with UNAVAILABLE (S-STREAM-9). */
  readonly ready: boolean;
  /** The authorities it answers for (S-AUTH-8). Absent: any. */
  readonly authorities?: readonly string[] | undefined;
  /** The source that this one is a view of, for some of its clients: revisions of both are one count, and who looks on at the clients of the one sees those of the other. Absent: it is not a such view. */
  readonly viewOf?: ResourceSource | undefined;
  /** What the clients of this view have in common, a text for people: the status of a client shows it. Absent or undefined: the view has no such key, or no view has content of its own now. */
  readonly viewKey?: string | undefined;
  /**
   * Whether a revision may have changed something for the clients of this view. false: it changed only what clients of other views see, so a wait for the ACKs of that revision does not wait for these.
   * Absent: every revision may.
   */
  changedBy?: ((revision: number) => boolean) | undefined;
  /** The data of a type. undefined, and nothing of the type ever held: the type is not served (S-STREAM-8). */
  descriptor(typeUrl: string): ResourceType | undefined;
  /** True where the type has a descriptor, or something of it is or was cached. */
  serves(typeUrl: string): boolean;
  /**
   * The topic of an interest. Equal spelling and parameters give the same object while it is watched, unless something in it may not be kept (`noStore`) and whoever asks later has to wait for a newer answer (B-RELAY-11); topics whose names are equal by N-40 share resources, but answer under their own spelling (N-42).
   * Of a name with variants it is the one that matches the parameters (B-DYN-3); where several do, none, with an error (S-DYN-8).
   * Never throws: an interest that cannot exist is a topic that settles as empty.
   */
  topic(typeUrl: string, interest: Interest): Topic;
  /**
   * A name as it was at a revision: its newest entry up to there, where that is still kept. For whoever shows what a client holds that is behind or has rejected what came since (B-CSDS-2);
   * nothing is decided by it. Absent: what was replaced is not kept.
   */
  asOf?: ((typeUrl: string, name: string, revision: number) => Entry | undefined) | undefined;
}

/** A compacted log of what one interest covers: each name once, at its newest revision, with tombstones for a bounded window. */
export interface Topic {
  /** The subscription, in its own spelling. */
  readonly interest: Interest;
  /** The first complete answer is known; until then conclude nothing. */
  readonly settled: boolean;
  /** Present while the supply is broken. What is cached stays valid. */
  readonly stale?: XdsError | undefined;
  /** Revision of the newest entry. Settling moves it too. */
  readonly head: number;
  /** The author's label of the transaction that moved `head` last ({@link Transaction.label}); replaces the content version in SotW. */
  readonly label?: string | undefined;
  /** Sum over the members of {@link StoredResource.hash}, modulo 2^52; kept up to date at O(1) per change. */
  readonly hash: number;
  /**
   * What is newer than `after`, oldest first, one entry per name. The same array while no entry lies between two values of `after`, so its identity is a key for encoded bytes.
   * undefined: that history is not kept any more. A delta stream then ends with UNAVAILABLE and comes back with its versions; SotW of full state goes on from `members()`.
   */
  changes(after: number): readonly Entry[] | undefined;
  /**
   * What exists now; the same array until `head` moves.
   * Settled and empty: one entry without a resource under the interest's own name (an exact name or a glob URL, with its error; for `*` none).
   */
  members(): readonly Entry[];
  /** The entry of a name (any spelling) that this topic covers and that exists; O(1). */
  get(name: string): Entry | undefined;
  /** Names that this topic covered, removed within the tombstone window and not put again; for clients that forget what they hold (S-RECON-10). */
  removed(): readonly Entry[];
  /**
   * Variants of a name (any spelling) that this topic covered and that were removed within the tombstone window (TP2): for a server that sends the name again to a client that may have one of them (S-DYN-5).
   * Absent, or none: the name has no variants.
   */
  gone?(name: string): readonly Entry[];
  /** Never calls back before it returns. Watching twice counts once. */
  watch(watcher: Watcher): void;
  /** Ends it; a watcher that is none is not an error. */
  unwatch(watcher: Watcher): void;
}

/** A listener for changes of a topic. */
export interface Watcher {
  /** Called after the whole transaction is visible: `head`, `settled` or `stale` has changed. Mark and schedule, nothing else. A wake without new entries is normal. */
  wake(topic: Topic): void;
}
