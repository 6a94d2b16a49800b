import {
  type Entry,
  forwardSource,
  type Interest,
  type NodeInfo,
  type PeerIdentity,
  type ResourceSource,
  type Topic,
  type Watcher,
  type XdsError,
} from "@xdstp/core";

/** Who reads: one stream, and whose it is. */
export interface Reader {
  /** Absent: a client whose answers cannot be distinguished from those of others, and that never sees a change first. */
  readonly client: string | undefined;
}

/** The streams of one interest, and its two topics: the accepted state, and the state that is tried first. */
export interface TopicGroup {
  readonly accepted: Topic;
  readonly ahead: Topic;
  /** Returns the topic of a stream. It is the same object while it is watched. */
  topicFor(reader: Reader): ClientTopic;
  /** Adds a stream that begins to watch. Returns the group that it belongs to from now on. */
  enter(topic: ClientTopic): TopicGroup;
  /** Removes a stream that no longer watches. */
  leave(topic: ClientTopic): void;
}

/** One interest as one stream sees it: what is accepted, or what is ahead of it. It changes over at most once, and only while both hold the same. */
export class ClientTopic implements Topic, Watcher {
  declare readonly stale?: XdsError;
  declare readonly label?: string;
  readonly reader: Reader;
  /** Of the interest; without watchers it may be one of several. */
  group: TopicGroup;
  #ahead = false;
  /** When it has changed over, and what its head was. Absent: it saw one and the same all the time. */
  #changed: { readonly revision: number; readonly head: number } | undefined;
  readonly #watchers = new Set<Watcher>();

  constructor(group: TopicGroup, reader: Reader) {
    this.group = group;
    this.reader = reader;
  }

  static {
    // Optional in the contract, so they can be declared here but no accessors: these are put on the prototype.
    Object.defineProperties(this.prototype, {
      stale: {
        get(this: ClientTopic) {
          return this.#now.stale;
        },
      },
      label: {
        get(this: ClientTopic) {
          return this.#now.label;
        },
      },
    });
  }

  /** It shows what is ahead of what is accepted. */
  get isAhead(): boolean {
    return this.#ahead;
  }
  get #now(): Topic {
    return this.#ahead ? this.group.ahead : this.group.accepted;
  }
  get interest(): Interest {
    return this.#now.interest;
  }
  get settled(): boolean {
    return this.#now.settled;
  }
  get hash(): number {
    return this.#now.hash;
  }

  get head(): number {
    const { head } = this.#now;
    return this.#changed !== undefined && head <= this.#changed.revision
      ? this.#changed.head
      : head;
  }

  changes(after: number): readonly Entry[] | undefined {
    if (this.#changed === undefined || after >= this.#changed.revision)
      return this.#now.changes(after);
    return joinChanges(
      this.group.accepted.changes(after),
      this.group.ahead.changes(this.#changed.revision),
    );
  }

  members(): readonly Entry[] {
    return this.#now.members();
  }
  get(name: string): Entry | undefined {
    return this.#now.get(name);
  }
  removed(): readonly Entry[] {
    return this.#now.removed();
  }
  gone(name: string): readonly Entry[] {
    return this.#now.gone?.(name) ?? [];
  }

  watch(watcher: Watcher): void {
    if (this.#watchers.size === 0) {
      this.group = this.group.enter(this);
      this.#now.watch(this);
    }
    this.#watchers.add(watcher);
  }

  unwatch(watcher: Watcher): void {
    if (!this.#watchers.delete(watcher) || this.#watchers.size > 0) return;
    this.#now.unwatch(this);
    this.group.leave(this);
    this.#ahead = false;
    this.#changed = undefined;
  }

  wake(): void {
    for (const watcher of this.#watchers) watcher.wake(this);
  }

  /** From now on it shows what is ahead; nothing was read yet. */
  lookAhead(): void {
    this.#ahead = true;
  }

  /** The same for a stream that has read up to somewhere: what it has not read of what is accepted is still to come (`changes`). */
  changeOver(revision: number): void {
    this.#changed = { revision, head: this.head };
    this.#now.unwatch(this);
    this.#ahead = true;
    this.#now.watch(this);
    this.wake();
  }
}

type Entries = readonly Entry[];

const joined = new WeakMap<Entries, WeakMap<Entries, Entries>>();

/** Joins the changes of one topic with later changes of another topic. The result has each name once, with its current entry. It is the same array for the same two arrays. */
function joinChanges(old: Entries | undefined, updates: Entries | undefined): Entries | undefined {
  if (old === undefined || updates === undefined) return undefined;
  const known = joined.get(old) ?? new WeakMap<Entries, Entries>();
  joined.set(old, known);
  const join = known.get(updates) ?? joinOf(old, updates);
  known.set(updates, join);
  return join;
}

function joinOf(old: Entries, updates: Entries): Entries {
  const renewed = new Set(updates.map(({ name }) => name));
  const rest = old.filter(({ name }) => !renewed.has(name));
  if (rest.length === 0) return updates;
  return updates.length === 0 && rest.length === old.length ? old : [...rest, ...updates];
}

/** A source as one stream of a client sees it: topics of a quorum are its own, so that it may see first. All else is that of the source. */
export function readerView(source: ResourceSource, client: string): ResourceSource {
  const reader: Reader = { client };
  return forwardSource(source, {
    viewOf: source.viewOf ?? source,
    topic(typeUrl, interest) {
      const topic = source.topic(typeUrl, interest);
      return topic instanceof ClientTopic ? topic.group.topicFor(reader) : topic;
    },
  });
}

/** The key that distinguishes clients: the verified identity, or else the node id; undefined where there is neither. */
export function clientKey({
  identity,
  node,
}: {
  /** As its wire has verified it. */
  readonly identity?: PeerIdentity;
  /** As it says. */
  readonly node?: Pick<NodeInfo, "id"> | undefined;
}): string | undefined {
  if (identity !== undefined)
    return `identity ${identity.uris[0] ?? identity.dnsNames[0] ?? identity.fingerprint}`;
  return node === undefined || node.id === "" ? undefined : `node ${node.id}`;
}
