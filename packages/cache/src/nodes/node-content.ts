import type { Committed, Rejection, ResourceSink, ResourceSource, Transaction } from "@xdstp/core";

import type { Author } from "../author.ts";

/**
 * The content of one node key: written like a cache, read as its clients see it, the shared content included.
 * A name that is put here replaces the shared resource of that name for these clients alone; once it is removed they see the shared one again.
 */
export interface NodeContent extends ResourceSource, ResourceSink, Author {
  /** The node key, as `keyOf` gives it. */
  readonly key: string;
  /** Resources that are put under this key; shared ones do not count. */
  readonly resources: number;
  /** As the contract says, at once, and all or nothing. Throws INVALID_ARGUMENT for an xdstp name, which is the same for every node (B-NODE-7), and for a resource with `expireMs`. */
  commit(transaction: Transaction): Committed;
  /** What `commit` would reject or throw for; nothing changes. */
  checkCommit(transaction: Transaction): readonly Rejection[];
  /** Removes all that was put under this key: its clients see the shared content. */
  clear(): Committed;
}
