import {
  type Entry,
  forwardSink,
  forwardSource,
  type Interest,
  InterestMap,
  type ResourceFeed,
  type ResourceSink,
  type ResourceSource,
  type Topic,
  type Transaction,
  type Watcher,
  type XdsError,
} from "@xdstp/core";
import { nameKey } from "@xdstp/uri";

/**
 * Handles resources with `do_not_cache`: they are passed on to the present subscribers when they
 * arrive. For a later subscriber they are requested upstream again (B-RELAY-11).
 */
interface AskAgain {
  /** Wraps the feed of the cache, to observe it. */
  overFeed(feed: ResourceFeed): ResourceFeed;
  /** Wraps the source. A topic without such a resource is passed on unchanged. */
  overSource(source: ResourceSource): ResourceSource;
}

/** Creates an `AskAgain` for one cache, between its feed and its readers. */
export function createAskAgain(): AskAgain {
  /** Types that have had a resource with `do_not_cache`. */
  const types = new Set<string>();
  /** The subscriptions that were sent to the feed. */
  const wanted = new InterestMap<Interest>();
  let ask: ResourceFeed["want"];
  const waits = new Waits((typeUrl, interests) => {
    // New subscriptions are sent to the feed anyway.
    const told = interests.filter(
      (interest) => wanted.get(typeUrl, interest, nameKey(interest.name)) !== undefined,
    );
    if (told.length === 0) return;
    ask?.(typeUrl, [], told);
    ask?.(typeUrl, told, []);
  });
  const note = (transaction: Transaction): void => {
    for (const { typeUrl, resource } of transaction.put ?? [])
      if (resource.noStore === true) types.add(typeUrl);
    waits.note(transaction);
  };
  return {
    overFeed: (feed) => {
      ask = (...updates) => {
        feed.want?.(...updates);
      };
      return {
        run: async (sink, signal) => feed.run(heard(sink, note), signal),
        want(typeUrl, added, dropped) {
          for (const interest of dropped) {
            wanted.delete(typeUrl, interest, nameKey(interest.name));
            waits.drop(typeUrl, interest);
          }
          for (const interest of added)
            wanted.set(typeUrl, interest, nameKey(interest.name), interest);
          feed.want?.(typeUrl, added, dropped);
        },
      };
    },
    overSource: (source) =>
      forwardSource(source, {
        topic(typeUrl, interest) {
          const topic = source.topic(typeUrl, interest);
          return types.has(typeUrl) && holdsForOthers(topic.members())
            ? new FreshTopic(topic, () => waits.of(typeUrl, interest))
            : topic;
        },
      }),
  };
}

/**
 * Wraps a sink, and calls `note` after each commit, so that waiting topics see the committed state.
 */
function heard(sink: ResourceSink, note: (transaction: Transaction) => void): ResourceSink {
  return forwardSink(sink, (inner) => ({
    commit(transaction) {
      const committed = inner.commit(transaction);
      note(transaction);
      return committed;
    },
  }));
}

const known = new WeakMap<readonly Entry[], boolean>();

/** Cached by array: the members of a collection are the same array until they change. */
function holdsForOthers(members: readonly Entry[]): boolean {
  const found = known.get(members) ?? members.some(({ resource }) => resource?.noStore === true);
  known.set(members, found);
  return found;
}

interface Row extends Wait {
  readonly interest: Interest;
}

/**
 * The interests that are requested from upstream again, until it has answered. Further subscribers of
 * the same interest wait for the same answer.
 */
class Waits {
  readonly #rows = new InterestMap<Row>();
  /** The interests that are requested at the end of the turn. */
  readonly #due = new Map<string, Interest[]>();
  readonly #ask: (typeUrl: string, interests: readonly Interest[]) => void;

  /** @param ask - Called after a turn with the new interests of each type */
  constructor(ask: (typeUrl: string, interests: readonly Interest[]) => void) {
    this.#ask = ask;
  }

  /** Returns the wait for an interest, an existing or a new one. */
  of(typeUrl: string, interest: Interest): Wait {
    const key = nameKey(interest.name);
    const known = this.#rows.get(typeUrl, interest, key);
    // A wait that all topics have left may never be answered.
    if (known !== undefined && known.topics.size > 0) return known;
    const row: Row = { interest, over: false, topics: new Set() };
    this.#rows.set(typeUrl, interest, key, row);
    this.#schedule(typeUrl, interest);
    return row;
  }

  /**
   * Ends the waits for the interests that upstream has answered: their topics show the cached state
   * now.
   */
  note({ put = [], remove = [], complete = [], settled = [] }: Transaction): void {
    if (this.#rows.size === 0) return;
    for (const { typeUrl, resource, as } of put)
      for (const name of [as ?? resource.name, ...(resource.aliases ?? [])])
        this.#end(typeUrl, nameKey(name));
    for (const { typeUrl, name } of remove) this.#end(typeUrl, nameKey(name));
    for (const { typeUrl, interest } of [...complete, ...settled])
      this.#end(typeUrl, nameKey(interest.name));
  }

  /** Removes the wait for an interest without subscribers. */
  drop(typeUrl: string, interest: Interest): void {
    if (this.#rows.size > 0) this.#rows.delete(typeUrl, interest, nameKey(interest.name));
  }

  #end(typeUrl: string, key: string): void {
    const rows = this.#rows.ofName(typeUrl, key);
    for (const { interest } of rows) this.#rows.delete(typeUrl, interest, key);
    for (const row of rows) {
      row.over = true;
      for (const topic of row.topics) topic.wake();
    }
  }

  #schedule(typeUrl: string, interest: Interest): void {
    this.#due.set(typeUrl, [...(this.#due.get(typeUrl) ?? []), interest]);
    if (this.#due.size > 1 || (this.#due.get(typeUrl)?.length ?? 0) > 1) return;
    queueMicrotask(() => {
      const due = [...this.#due];
      this.#due.clear();
      for (const [type, interests] of due) this.#ask(type, interests);
    });
  }
}

/** The wait for one answer of upstream, shared by all subscribers of the interest. */
interface Wait {
  over: boolean;
  readonly topics: Set<FreshTopic>;
}

/**
 * An interest as a later subscriber sees it: the cached resources were for earlier subscribers, so
 * nothing is known until upstream has sent them again (B-RELAY-11).
 */
class FreshTopic implements Topic, Watcher {
  declare readonly stale?: XdsError;
  declare readonly label?: string;
  readonly #topic: Topic;
  readonly #askAgain: () => Wait;
  readonly #watchers = new Set<Watcher>();
  #wait: Wait | undefined;

  /** @param askAgain - Called when the first watcher begins */
  constructor(topic: Topic, askAgain: () => Wait) {
    this.#topic = topic;
    this.#askAgain = askAgain;
  }

  static {
    // These members are optional in the contract, so a class can declare them, but not as
    // accessors. They are added to the prototype.
    Object.defineProperties(this.prototype, {
      stale: {
        get(this: FreshTopic) {
          return this.#topic.stale;
        },
      },
      label: {
        get(this: FreshTopic) {
          return this.#shown?.label;
        },
      },
    });
  }

  get interest(): Interest {
    return this.#topic.interest;
  }
  get settled(): boolean {
    return this.#shown?.settled ?? false;
  }
  get head(): number {
    return this.#shown?.head ?? 0;
  }
  get hash(): number {
    return this.#shown?.hash ?? 0;
  }
  changes(after: number): readonly Entry[] | undefined {
    return this.#shown === undefined ? [] : this.#shown.changes(after);
  }
  members(): readonly Entry[] {
    return this.#shown?.members() ?? [];
  }
  get(name: string): Entry | undefined {
    return this.#shown?.get(name);
  }
  removed(): readonly Entry[] {
    return this.#shown?.removed() ?? [];
  }
  gone(name: string): readonly Entry[] {
    return this.#shown?.gone?.(name) ?? [];
  }

  watch(watcher: Watcher): void {
    if (this.#watchers.size === 0) {
      this.#topic.watch(this);
      this.#wait ??= this.#askAgain();
      this.#wait.topics.add(this);
    }
    this.#watchers.add(watcher);
  }

  unwatch(watcher: Watcher): void {
    if (!this.#watchers.delete(watcher) || this.#watchers.size > 0) return;
    this.#wait?.topics.delete(this);
    this.#topic.unwatch(this);
  }

  wake(): void {
    for (const watcher of this.#watchers) watcher.wake(this);
  }

  get #shown(): Topic | undefined {
    return this.#wait?.over === true ? this.#topic : undefined;
  }
}
