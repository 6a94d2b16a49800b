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

/** What may not be kept (`do_not_cache`) is passed on to its present subscribers when it comes; for a later subscriber it is requested upstream again (B-RELAY-11). */
interface AskAgain {
  /** The same feed, which is heard. */
  overFeed(feed: ResourceFeed): ResourceFeed;
  /** The same source. Where nothing of the kind is cached, its topics are passed on unchanged. */
  overSource(source: ResourceSource): ResourceSource;
}

/** Nothing has come yet. One for a cache, whose feed and readers it stands between. */
export function createAskAgain(): AskAgain {
  /** Of these something may not be kept. */
  const types = new Set<string>();
  /** The subscriptions that the feed was sent. */
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

/** The same sink, which notes each transaction after its commit, so that those who wait for it see it. */
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

/** Read once per array: members of a collection are one and the same until it changes. */
function holdsForOthers(members: readonly Entry[]): boolean {
  const found = known.get(members) ?? members.some(({ resource }) => resource?.noStore === true);
  known.set(members, found);
  return found;
}

interface Row extends Wait {
  readonly interest: Interest;
}

/** What upstream was asked again, until it has answered. Whoever asks for the same meanwhile waits for the same answer. */
class Waits {
  readonly #rows = new InterestMap<Row>();
  /** What is to be asked when the turn is over. */
  readonly #due = new Map<string, Interest[]>();
  readonly #ask: (typeUrl: string, interests: readonly Interest[]) => void;

  /** @param ask - Called after a turn with what is new in it */
  constructor(ask: (typeUrl: string, interests: readonly Interest[]) => void) {
    this.#ask = ask;
  }

  /** The wait for an interest: one that is there, or a new one. */
  of(typeUrl: string, interest: Interest): Wait {
    const key = nameKey(interest.name);
    const known = this.#rows.get(typeUrl, interest, key);
    // One that all have left was perhaps never answered.
    if (known !== undefined && known.topics.size > 0) return known;
    const row: Row = { interest, over: false, topics: new Set() };
    this.#rows.set(typeUrl, interest, key, row);
    this.#schedule(typeUrl, interest);
    return row;
  }

  /** Upstream has sent this: its waiting subscribers see what is cached now. */
  note({ put = [], remove = [], complete = [], settled = [] }: Transaction): void {
    if (this.#rows.size === 0) return;
    for (const { typeUrl, resource, as } of put)
      for (const name of [as ?? resource.name, ...(resource.aliases ?? [])])
        this.#end(typeUrl, nameKey(name));
    for (const { typeUrl, name } of remove) this.#end(typeUrl, nameKey(name));
    for (const { typeUrl, interest } of [...complete, ...settled])
      this.#end(typeUrl, nameKey(interest.name));
  }

  /** It has no subscribers any more. */
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

/** What upstream was asked again and has not said yet. One for all who wait for the same. */
interface Wait {
  over: boolean;
  readonly topics: Set<FreshTopic>;
}

/** An interest as a later subscriber sees it: its cached content was for others, so nothing is known before upstream has sent it again (B-RELAY-11). */
class FreshTopic implements Topic, Watcher {
  declare readonly stale?: XdsError;
  declare readonly label?: string;
  readonly #topic: Topic;
  readonly #askAgain: () => Wait;
  readonly #watchers = new Set<Watcher>();
  #wait: Wait | undefined;

  /** @param askAgain - Called when it is watched */
  constructor(topic: Topic, askAgain: () => Wait) {
    this.#topic = topic;
    this.#askAgain = askAgain;
  }

  static {
    // Optional in the contract, so they can be declared here but no accessors: these are put on the prototype.
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
