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

/** The reader of a topic: one stream, with the client that it belongs to. */
export interface Reader {
  /**
   * The key of the client. undefined: its answers cannot be distinguished from those of other
   * clients, so it never sees a change first.
   */
  readonly client: string | undefined;
}

/**
 * The streams of one interest, and its two topics: the accepted state, and the state that is tried
 * first.
 */
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

/**
 * One interest as one stream sees it: the accepted state, or the state ahead of it. It changes over
 * from the first to the second at most once, and only while both are equal.
 */
export class ClientTopic implements Topic, Watcher {
  declare readonly stale?: XdsError;
  declare readonly label?: string;
  readonly reader: Reader;
  /** The group of the interest; without watchers it may be one of several. */
  group: TopicGroup;
  #ahead = false;
  /**
   * The revision at which it has changed over, and its head at that time. undefined: it has not.
   */
  #changed: { readonly revision: number; readonly head: number } | undefined;
  readonly #watchers = new Set<Watcher>();

  constructor(group: TopicGroup, reader: Reader) {
    this.group = group;
    this.reader = reader;
  }

  static {
    // These are optional in the contract, so they cannot be declared as accessors here; the
    // accessors are put on the prototype.
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

  /** True if it shows the state ahead of the accepted one. */
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

  /** Shows the state ahead from now on. For a stream that has read nothing yet. */
  lookAhead(): void {
    this.#ahead = true;
  }

  /**
   * Shows the state ahead from now on, for a stream that has read up to some revision. `changes`
   * still returns what it has not read of the accepted state.
   */
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

/**
 * Returns a source as one stream of a client sees it. The topics of a quorum are those of the
 * stream, so that it may see changes first; everything else is that of the source.
 */
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

/**
 * Returns the key that distinguishes clients: the verified identity, or else the node id.
 * undefined: the client has neither.
 */
export function clientKey({
  identity,
  node,
}: {
  /** The identity, as the wire has verified it. */
  readonly identity?: PeerIdentity;
  /** The node, as the client claims it. */
  readonly node?: Pick<NodeInfo, "id"> | undefined;
}): string | undefined {
  if (identity !== undefined)
    return `identity ${identity.uris[0] ?? identity.dnsNames[0] ?? identity.fingerprint}`;
  return node === undefined || node.id === "" ? undefined : `node ${node.id}`;
}
