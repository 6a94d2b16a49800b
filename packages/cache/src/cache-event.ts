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

/** Events wait until the transaction that caused them is visible, so that a listener may read and write the cache. */
export class EventQueue {
  readonly counts = { reusedVersions: 0, ignoredAliases: 0, overlappingVariants: 0, rejected: 0 };
  #waiting: CacheEvent[] = [];
  readonly #listener: ((event: CacheEvent) => void) | undefined;

  constructor(listener: ((event: CacheEvent) => void) | undefined) {
    this.#listener = listener;
  }

  add(event: CacheEvent): void {
    if (event.kind === "aliases-ignored") this.counts.ignoredAliases++;
    if (event.kind === "version-reused") this.counts.reusedVersions++;
    if (event.kind === "variants-overlap") this.counts.overlappingVariants++;
    if (this.#listener !== undefined) this.#waiting.push(event);
  }

  /** A listener that throws surfaces as an uncaught exception; the cache goes on. */
  flush(): void {
    const events = this.#waiting;
    if (events.length === 0) return;
    this.#waiting = [];
    for (const event of events) {
      try {
        this.#listener?.(event);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
