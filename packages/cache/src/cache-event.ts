import type { XdsError } from "@xdstp/core";

/** What an operator should know of a cache. */
export type CacheEvent =
  /** The first complete state is in (S-STREAM-9). */
  | { readonly kind: "ready"; readonly revision: number }
  /** The aliases of an xdstp name were ignored: redirects do that (B-ALIAS-4). */
  | { readonly kind: "aliases-ignored"; readonly typeUrl: string; readonly name: string }
  /** A version came again with other bytes and is served as `servedAs` (B-VER-5). */
  | {
      readonly kind: "version-reused";
      readonly typeUrl: string;
      readonly name: string;
      readonly version: string;
      readonly servedAs: string;
    }
  /** Variants of a name do not exclude each other, or cannot be shown to: who matches several is given none (S-DYN-8). Each as a text; the empty one has no constraints. */
  | {
      readonly kind: "variants-overlap";
      readonly typeUrl: string;
      readonly name: string;
      readonly variants: readonly string[];
    }
  /** A feed has failed; what it gave is kept and stale. `retryMs`: it is run again after this number of milliseconds. Absent: it has ended. */
  | { readonly kind: "feed-failed"; readonly error: XdsError; readonly retryMs?: number };
