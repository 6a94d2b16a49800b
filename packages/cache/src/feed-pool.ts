import { XdsError, type Clock, type ResourceFeed, type ResourceSink } from "@xdstp/core";

import type { BaseTopic } from "./base-topic.ts";
import type { FeedHandle } from "./cache.ts";
import { type FeedOptions, type FeedSlot, runFeed } from "./feed-runner.ts";
import { InterestLedger, type InterestChange } from "./interest-ledger.ts";

/** The cache, as its feeds use it. */
export interface PoolHost {
  /** Creates the sink of a feed. */
  sink(slot: FeedSlot): ResourceSink;
  /**
   * Called when a feed has failed and will run again after this number of milliseconds. Its
   * resources are stale until it commits again.
   */
  onFailed(slot: FeedSlot, error: XdsError, retryMs: number): void;
  onRecovered(slot: FeedSlot): void;
  /** Called when a feed has ended. If it failed, its resources stay stale. */
  onEnded(slot: FeedSlot, error: XdsError | undefined): void;
  /** Called before feeds are notified of ended subscriptions. */
  onChange(changes: readonly InterestChange[]): void;
  onError(error: XdsError): void;
}

/** The feeds of a cache, and the subscriptions that they are sent. */
export class FeedPool {
  readonly ledger: InterestLedger;
  readonly #host: PoolHost;
  readonly #clock: Clock;
  readonly #slots = new Set<FeedSlot>();
  readonly #handles = new Set<FeedHandle>();
  #onDemand = false;
  #closed = false;

  constructor(clock: Clock, lingerMs: number, host: PoolHost) {
    this.#host = host;
    this.#clock = clock;
    this.ledger = new InterestLedger({
      clock,
      lingerMs,
      onChange: (changes) => {
        this.#inform(changes);
      },
    });
  }

  /**
   * True if a feed is, or was, filled on demand. Then nothing can be concluded from what feeds do
   * not send.
   */
  get onDemand(): boolean {
    return this.#onDemand;
  }

  get size(): number {
    return this.#slots.size;
  }

  /** True if every feed that pushes has committed at least once. */
  get complete(): boolean {
    return [...this.#slots].every((slot) => slot.onDemand || slot.committed);
  }

  add(
    feed: ResourceFeed,
    options: FeedOptions,
    watched: () => Iterable<readonly [typeUrl: string, topic: BaseTopic]>,
  ): FeedHandle {
    const slot: FeedSlot = {
      feed,
      onDemand: feed.want !== undefined,
      committed: false,
      informed: false,
      parts: [],
    };
    this.#slots.add(slot);
    if (slot.onDemand) this.#demand(watched);
    const handle = runFeed(feed, options, {
      sink: this.#host.sink(slot),
      clock: this.#clock,
      onFailed: (error, retryMs) => {
        this.#host.onFailed(slot, error, retryMs);
        // A feed that starts again may remember nothing, so it is sent all subscriptions.
        slot.informed = false;
        if (slot.onDemand) this.ledger.schedule();
      },
      onRecovered: () => {
        this.#host.onRecovered(slot);
      },
      onEnded: (error) => {
        if (error === undefined) this.#slots.delete(slot);
        this.#handles.delete(handle);
        this.#host.onEnded(slot, error);
      },
    });
    this.#handles.add(handle);
    if (this.#closed) void handle.close();
    return handle;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.ledger.end();
    await Promise.all([...this.#handles].map((handle) => handle.close()));
  }

  /** Begins to count interest, with the first feed on demand. */
  #demand(watched: () => Iterable<readonly [string, BaseTopic]>): void {
    if (!this.#onDemand)
      for (const [typeUrl, { interest, key }] of watched())
        this.ledger.open(typeUrl, interest, key);
    this.#onDemand = true;
    this.ledger.schedule();
  }

  #inform(changes: readonly InterestChange[]): void {
    this.#host.onChange(changes);
    for (const slot of this.#slots) {
      const updates = slot.informed ? changes : this.ledger.announced();
      slot.informed = true;
      for (const { typeUrl, added, dropped } of updates)
        if (added.length + dropped.length > 0)
          this.#want(
            slot,
            typeUrl,
            added,
            dropped.map(({ interest }) => interest),
          );
    }
  }

  #want({ feed }: FeedSlot, ...updates: Parameters<NonNullable<ResourceFeed["want"]>>): void {
    try {
      feed.want?.(...updates);
    } catch (error) {
      this.#host.onError(XdsError.from(error));
    }
  }
}
