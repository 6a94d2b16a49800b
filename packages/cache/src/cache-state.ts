import type { XdsError } from "@xdstp/core";

/** The state that all types of one cache share. Only the cache writes it. */
export interface CacheState {
  /**
   * The revision of the newest transaction; while a transaction is applied, its own. Caches may
   * share the counter.
   */
  revision: number;
  /**
   * True if a name that is not there does not exist: the cache is ready and has no feed on demand.
   */
  answersAll: boolean;
  /** The label of the transaction that is being applied. */
  label: string | undefined;
  /** The topics that the transaction being applied has changed; they are woken after it. */
  touched: Set<{ wake(): void }>;
  /** The number of steps of work, for tests. */
  work: number;
}

/** Creates the state of a cache before its first transaction. */
export function createCacheState(): CacheState {
  return { revision: 0, answersAll: false, label: undefined, touched: new Set(), work: 0 };
}

/** An outage of a part of the supply. */
export interface Outage {
  /** The error that the feed reported. */
  readonly error: XdsError;
  /**
   * The number of the report, among all reports of the cache. The same text may be reported again,
   * for example for another version (C-ACK-18), or by another attempt to connect.
   */
  readonly report: number;
}
