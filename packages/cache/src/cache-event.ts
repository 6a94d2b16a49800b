import type { XdsError } from "@xdstp/core";

/** An event of a cache, for operators. */
export type CacheEvent =
  /** The first complete state is cached (S-STREAM-9). */
  | { readonly kind: "ready"; readonly revision: number }
  /** The aliases of an xdstp name were ignored; redirects serve that purpose (B-ALIAS-4). */
  | { readonly kind: "aliases-ignored"; readonly typeUrl: string; readonly name: string }
  /** A version was used again for other content, which is served as `servedAs` (B-VER-5). */
  | {
      readonly kind: "version-reused";
      readonly typeUrl: string;
      readonly name: string;
      readonly version: string;
      readonly servedAs: string;
    }
  /**
   * Variants of a name do not exclude each other, or that cannot be determined: a client that
   * matches several is sent none (S-DYN-8). `variants` has the constraints of each as text; an
   * empty text means without constraints.
   */
  | {
      readonly kind: "variants-overlap";
      readonly typeUrl: string;
      readonly name: string;
      readonly variants: readonly string[];
    }
  /**
   * A feed has failed; its resources stay cached and are stale. `retryMs`: the feed is run again
   * after this number of milliseconds. Absent: it has ended.
   */
  | { readonly kind: "feed-failed"; readonly error: XdsError; readonly retryMs?: number };

/**
 * A queue in which events wait until their transaction is visible, so that a listener may read and
 * write the cache.
 */
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

  /**
   * Calls the listener with all waiting events. An exception of the listener becomes an uncaught
   * exception; the cache continues.
   */
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
