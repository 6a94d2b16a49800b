/** The node keys whose clients a revision concerns. */
export interface KeyedRevisions {
  /**
   * Notes that a transaction has changed the content of these keys. `undefined` is the shared
   * content, which concerns the clients of all keys. Replaces an earlier note for the revision.
   */
  note(revision: number, keys: readonly (string | undefined)[]): void;
  /** Returns true if a revision may concern the clients with a key, or those without one. */
  concerns(revision: number, key: string | undefined): boolean;
}

/**
 * The number of revisions that are kept. A wait for the ACKs of a revision begins soon after it; a
 * revision that is not kept any more concerns all clients.
 */
const mostKept = 10_000;

/** Creates a record of the newest 10,000 revisions of single keys. */
export function createKeyedRevisions(): KeyedRevisions {
  const known = new Map<number, readonly (string | undefined)[]>();
  return {
    note(revision, keys) {
      known.set(revision, keys);
      for (const oldest of known.keys()) {
        if (known.size <= mostKept) return;
        known.delete(oldest);
      }
    },
    concerns(revision, key) {
      const keys = known.get(revision);
      return keys === undefined || keys.includes(undefined) || keys.includes(key);
    },
  };
}
