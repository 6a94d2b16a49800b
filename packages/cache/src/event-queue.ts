import type { CacheEvent } from "./cache-event.ts";

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
