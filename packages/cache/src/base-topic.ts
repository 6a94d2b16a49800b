import type { Entry, Interest, Topic, Watcher, XdsError } from "@xdstp/core";

import type { CacheState, Outage } from "./cache-state.ts";
import { StateEntry } from "./state-entry.ts";

/** The store of a type, as its topics use it. */
export interface TopicHost {
  readonly state: CacheState;
  /** Called when the topic gets its first watcher. */
  opened(topic: BaseTopic): void;
  /** Called when the topic has lost its last watcher. */
  closed(topic: BaseTopic): void;
  /** Returns the outage of the topic, if there is one. */
  outage(topic: BaseTopic): Outage | undefined;
}

/** The outages of watched topics. Few topics have one, so it is not a field of a topic. */
const outages = new WeakMap<Topic, Outage>();

/**
 * Returns the number of the report that made a watched topic of a cache stale. undefined: its
 * supply works.
 */
export function staleReport(topic: Topic): number | undefined {
  return outages.get(topic)?.report;
}

/**
 * The base of all topics of a cache: watchers, and the state of the supply. There may be one for
 * each name and client, so it has few fields, and no `#method`, which would add one.
 */
export abstract class BaseTopic implements Topic {
  // These are optional in the contract, so they cannot be declared as accessors here; the accessors
  // are put on the prototype.
  declare readonly stale?: XdsError;
  declare readonly label?: string;
  protected readonly host: TopicHost;
  /**
   * The interest and its key. Nearly always that is a canonical name without parameters, which is
   * both.
   */
  readonly #asked: string | { readonly interest: Interest; readonly key: string };
  #watchers: Watcher | Set<Watcher> | undefined;

  constructor(host: TopicHost, interest: Interest, key: string) {
    this.host = host;
    this.#asked =
      key === interest.name && interest.parameters === undefined ? key : { interest, key };
  }

  static {
    Object.defineProperties(this.prototype, {
      stale: {
        get(this: BaseTopic) {
          return (this.watched ? outages.get(this) : this.host.outage(this))?.error;
        },
      },
      label: {
        get(this: BaseTopic) {
          this.sync();
          return this.movedBy;
        },
      },
    });
  }

  get interest(): Interest {
    return typeof this.#asked === "string" ? { name: this.#asked } : this.#asked.interest;
  }

  /** The key of the interest: equal for interests that differ in spelling only. */
  get key(): string {
    return typeof this.#asked === "string" ? this.#asked : this.#asked.key;
  }

  abstract readonly settled: boolean;
  abstract readonly head: number;
  abstract readonly hash: number;
  abstract changes(after: number): readonly Entry[] | undefined;
  abstract members(): readonly Entry[];
  abstract get(name: string): Entry | undefined;
  abstract removed(): readonly Entry[];
  /** Concludes that a name which is not there does not exist. */
  abstract settle(error?: XdsError): void;
  /** Updates the topic with changes from while it had no watchers. */
  protected abstract sync(): void;
  /** The label of the transaction that last moved `head`. */
  protected abstract readonly movedBy: string | undefined;

  get watched(): boolean {
    return this.#watchers !== undefined;
  }

  watch(watcher: Watcher): void {
    const known = this.#watchers;
    if (known instanceof Set) {
      known.add(watcher);
    } else if (known === undefined) {
      this.sync();
      this.setOutage(this.host.outage(this));
      this.#watchers = watcher;
      this.host.opened(this);
    } else if (known !== watcher) {
      this.#watchers = new Set([known, watcher]);
    }
  }

  unwatch(watcher: Watcher): void {
    const known = this.#watchers;
    if (known === undefined) return;
    if (known instanceof Set) {
      known.delete(watcher);
      if (known.size > 0) return;
    } else if (known !== watcher) {
      return;
    }
    this.#watchers = undefined;
    this.host.closed(this);
  }

  /** Wakes all watchers. If one throws, the others are woken nevertheless. */
  wake(): void {
    const known = this.#watchers;
    if (known === undefined) return;
    if (!(known instanceof Set)) {
      this.tell(known);
      return;
    }
    for (const watcher of known) this.tell(watcher);
  }

  /** Checks for an outage, and wakes the watchers if it has changed. */
  updateStale(): void {
    this.host.state.work++;
    const outage = this.host.outage(this);
    if (outages.get(this)?.report === outage?.report) return;
    this.setOutage(outage);
    this.wake();
  }

  private setOutage(outage: Outage | undefined): void {
    if (outage === undefined) outages.delete(this);
    else outages.set(this, outage);
  }

  private tell(watcher: Watcher): void {
    this.host.state.work++;
    try {
      watcher.wake(this);
    } catch (error) {
      // A bug of the reader: it becomes an uncaught exception, as with an event listener.
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}

/**
 * The topic of a name that this cache can never have: of another authority, of another type, or not
 * a valid name. It is settled at once.
 */
export class MissingTopic extends BaseTopic {
  readonly #entry: StateEntry;
  readonly settled = true;
  readonly hash = 0;

  constructor(host: TopicHost, interest: Interest, key: string) {
    super(host, interest, key);
    this.#entry = new StateEntry({ revision: host.state.revision, name: interest.name });
  }

  get head(): number {
    return this.#entry.revision;
  }

  changes(after: number): readonly Entry[] {
    return after < this.head ? this.#entry.alone() : [];
  }

  members(): readonly Entry[] {
    return this.#entry.alone();
  }

  get(): undefined {
    return undefined;
  }

  removed(): readonly Entry[] {
    return [];
  }

  settle(): void {
    // It is settled from the start.
  }

  protected get movedBy(): undefined {
    return undefined;
  }

  protected sync(): void {
    // It never changes.
  }
}
