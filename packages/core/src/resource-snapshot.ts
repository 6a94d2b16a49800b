import type { ResourceFeed } from "./feed.ts";
import type { Interest } from "./resource.ts";

/**
 * Stores what feeds have supplied, so that a program has its last state after a restart. The readers
 * of a cache do not know it: it wraps the feeds of the cache.
 */
export interface ResourceSnapshot {
  /**
   * Wraps a feed on demand. What the cache has accepted is stored; a rejected resource never
   * replaces a stored one. A subscribed interest is served from the snapshot at once, with an error
   * of the reason `restored` next to it, until the feed answers it.
   * Throws an XdsError if the snapshot is closed.
   */
  keep(feed: ResourceFeed, options: SnapshotScope): KeptFeed;
  /** Writes what is not written yet, and releases the storage. Another call does nothing. */
  close(): Promise<void>;
}

/** The part of a snapshot that belongs to one feed. */
export interface SnapshotScope {
  /** Returns true for a name that `*` covers, as the option `wildcard` of the cache does. */
  readonly inWildcard: (name: string) => boolean;
  /** Separates the resources of several feeds in one snapshot. Default: empty. */
  readonly space?: string;
}

/** A feed with a snapshot. */
export interface KeptFeed extends ResourceFeed {
  /**
   * Returns when the feed supplied what is now served from the snapshot for an interest, in
   * milliseconds since the epoch; of a collection, its newest member. `undefined`: the interest is
   * not served from the snapshot.
   */
  readonly restoredAt: (typeUrl: string, interest: Interest) => number | undefined;
}
