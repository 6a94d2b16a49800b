import type { XdsError } from "@xdstp/core";

/** What all types of one cache share. Written by the cache alone. */
export interface CacheState {
  /** Revision of the newest transaction; while one is applied, its own. Counted up in what caches may share. */
  revision: number;
  /** What is not there does not exist: the cache is ready and none of its feeds is filled on demand. */
  answersAll: boolean;
  /** Label of the transaction that is being applied. */
  label: string | undefined;
  /** Topics that moved in the transaction that is being applied; woken after it. */
  touched: Set<{ wake(): void }>;
  /** Steps taken, for tests that count work. */
  work: number;
}

/** The state of a cache before its first transaction. */
export function createCacheState(): CacheState {
  return { revision: 0, answersAll: false, label: undefined, touched: new Set(), work: 0 };
}

/** Why a part of the supply is broken. */
export interface Outage {
  /** The error that the feed reported. */
  readonly error: XdsError;
  /** Number of the report, of all that the cache has had. The same text may be reported again, for example for another version (C-ACK-18), or by another attempt to connect. */
  readonly report: number;
}
