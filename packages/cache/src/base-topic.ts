import type { Entry, Interest, Topic, Watcher, XdsError } from "@xdstp/core";

import type { CacheState, Outage } from "./cache-state.ts";
import { StateEntry } from "./state-entry.ts";

/** Where a topic reports that it is watched. Implemented by the store of its type. */
export interface TopicHost {
  readonly state: CacheState;
  /** The first watcher has come. */
  opened(topic: BaseTopic): void;
  /** The last watcher has ended. */
  closed(topic: BaseTopic): void;
  /** Why the supply of the topic is broken, if it is. */
  outage(topic: BaseTopic): Outage | undefined;
}

/** Why the supply of a watched topic is broken. Of few, so topics have no field for it. */
const outages = new WeakMap<Topic, Outage>();

/** Number of the report that a watched topic of a cache is stale by; undefined: its supply is not broken. */
export function staleReport(topic: Topic): number | undefined {
  return outages.get(topic)?.report;
}

/** What the kinds of topic have in common: its watchers, and the state of its supply. There may be one for each name and client, so it keeps few fields, and no `#method`, which would be one. */
export abstract class BaseTopic implements Topic {
  // Optional in the contract, so they can be declared here but no accessors: these are put on the prototype.
  declare readonly stale?: XdsError;
  declare readonly label?: string;
  protected readonly host: TopicHost;
  /** As nearly always, a canonical name without parameters is all there is to interest and key. */
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

  /** Interests that are equal but for spelling have the same key. */
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
  /** Concludes that what is not there does not exist. */
  abstract settle(error?: XdsError): void;
  /** Catches up with changes since it had watchers. */
  protected abstract sync(): void;
  /** Label of the transaction that moved `head` last. */
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

  /** Tells all watchers; one that throws does not keep the others from being told. */
  wake(): void {
    const known = this.#watchers;
    if (known === undefined) return;
    if (!(known instanceof Set)) {
      this.tell(known);
      return;
    }
    for (const watcher of known) this.tell(watcher);
  }

  /** Checks whether the supply is broken, or whole again, and notifies the watchers of a change. */
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
      // A bug of the reader. It surfaces as an uncaught exception, as that of an event listener does.
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}

/** The topic of a name that this cache can never have: of another authority, of another type, or no name at all. Settled at once. */
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
    // It is.
  }

  protected get movedBy(): undefined {
    return undefined;
  }

  protected sync(): void {
    // Nothing can happen to it.
  }
}
