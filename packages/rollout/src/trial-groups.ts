import type { CacheOptions } from "@xdstp/cache";
import {
  type Entry,
  type Interest,
  InterestMap,
  type ResourceSource,
  type StoredResource,
  type Topic,
  type Watcher,
} from "@xdstp/core";
import { ClientTopic, type Reader, type TopicGroup } from "./client-topic.ts";

/** Two caches that are read as one. */
interface Stages {
  /** The state that all clients see. */
  readonly accepted: ResourceSource;
  /** The accepted state, and changes on trial. */
  readonly ahead: ResourceSource;
  readonly revisions: NonNullable<CacheOptions["revisions"]>;
}

/** The groups of all subscribed interests. */
export class TrialGroups implements TrialGroupHost {
  readonly clients: number;
  readonly #stages: Stages;
  readonly #open = new InterestMap<TrialGroup>();
  readonly #touched = new Set<TrialGroup>();

  constructor(stages: Stages, clients: number) {
    this.#stages = stages;
    this.clients = clients;
  }

  get revision(): number {
    return this.#stages.revisions.last;
  }

  topic(typeUrl: string, interest: Interest, reader: Reader): ClientTopic {
    const open = this.#open.get(typeUrl, interest, interest.name);
    return (open ?? this.#create(typeUrl, interest)).topicFor(reader);
  }

  touched(group: TrialGroup): void {
    this.#touched.add(group);
  }

  opened(group: TrialGroup): TrialGroup {
    const { interest } = group.accepted;
    const open = this.#open.get(group.typeUrl, interest, interest.name);
    if (open === undefined) this.#open.set(group.typeUrl, interest, interest.name, group);
    return open ?? group;
  }

  closed(group: TrialGroup): void {
    const { interest } = group.accepted;
    this.#open.delete(group.typeUrl, interest, interest.name);
    this.#touched.delete(group);
  }

  /**
   * Calls `act`, which changes the cache ahead. Returns the resources that this has added, with the
   * groups whose first clients are shown them.
   */
  watching(act: () => void): ReadonlyMap<StoredResource, readonly TrialGroup[]> {
    const before = this.revision;
    this.#touched.clear();
    act();
    const shown = new Map<StoredResource, TrialGroup[]>();
    for (const group of this.#touched)
      for (const { resource } of updatesOf(group, before))
        if (resource !== undefined) append(shown, resource, group);
    this.#touched.clear();
    return shown;
  }

  #create(typeUrl: string, interest: Interest): TrialGroup {
    const { accepted, ahead } = this.#stages;
    return new TrialGroup(
      typeUrl,
      { accepted: accepted.topic(typeUrl, interest), ahead: ahead.topic(typeUrl, interest) },
      this,
    );
  }
}

function updatesOf({ ahead }: TrialGroup, before: number): readonly Entry[] {
  return ahead.changes(before) ?? ahead.members();
}

function append(
  shown: Map<StoredResource, TrialGroup[]>,
  resource: StoredResource,
  group: TrialGroup,
): void {
  const groups = shown.get(resource);
  if (groups === undefined) shown.set(resource, [group]);
  else groups.push(group);
}

/** The parts of a quorum that each of its groups uses. */
interface TrialGroupHost {
  /** The number of clients that see first. */
  readonly clients: number;
  readonly revision: number;
  /** Called when a name of the group has changed ahead. */
  touched(group: TrialGroup): void;
  /**
   * Called with the first stream. Returns the group of its interest: this one, or one that is
   * already open.
   */
  opened(group: TrialGroup): TrialGroup;
  /** Called when the last stream has ended. */
  closed(group: TrialGroup): void;
}

type Streams = Map<string, Set<ClientTopic>>;

/**
 * One interest, and the clients that see a change first: the first N, and the next one when one of
 * them disconnects.
 */
export class TrialGroup implements TopicGroup, Watcher {
  readonly typeUrl: string;
  readonly accepted: Topic;
  readonly ahead: Topic;
  /**
   * The number of names that differ between the two topics. While there are any, no stream changes
   * over from one topic to the other.
   */
  trials = 0;
  readonly #host: TrialGroupHost;
  readonly #members: Streams = new Map();
  readonly #waiting: Streams = new Map();
  readonly #topics = new Map<Reader, ClientTopic>();

  constructor(
    typeUrl: string,
    { accepted, ahead }: { readonly accepted: Topic; readonly ahead: Topic },
    host: TrialGroupHost,
  ) {
    this.typeUrl = typeUrl;
    this.accepted = accepted;
    this.ahead = ahead;
    this.#host = host;
  }

  /** The clients that see first. */
  get members(): Iterable<string> & { readonly size: number } {
    return { size: this.#members.size, [Symbol.iterator]: () => this.#members.keys() };
  }

  topicFor(reader: Reader): ClientTopic {
    return this.#topics.get(reader) ?? new ClientTopic(this, reader);
  }

  /**
   * Adds a stream that begins to watch. Both topics are subscribed while there is a stream, so that
   * both are given everything.
   */
  enter(topic: ClientTopic): TrialGroup {
    const group = this.#topics.size > 0 ? this : this.#host.opened(this);
    group.#add(topic);
    return group;
  }

  leave(topic: ClientTopic): void {
    const { reader } = topic;
    this.#topics.delete(reader);
    if (reader.client !== undefined)
      for (const streams of [this.#members, this.#waiting]) drop(streams, reader.client, topic);
    this.fill();
    if (this.#topics.size > 0) return;
    for (const one of [this.accepted, this.ahead]) one.unwatch(this);
    this.#host.closed(this);
  }

  /** Gives free places to the clients that have waited longest. */
  fill(): void {
    if (this.trials > 0) return;
    for (const [client, topics] of this.#waiting) {
      if (this.#members.size >= this.#host.clients) return;
      this.#waiting.delete(client);
      this.#members.set(client, topics);
      for (const topic of topics) topic.changeOver(this.#host.revision);
    }
  }

  wake(topic: Topic): void {
    if (topic === this.ahead) this.#host.touched(this);
  }

  #add(topic: ClientTopic): void {
    const { reader } = topic;
    if (this.#topics.size === 0) for (const one of [this.accepted, this.ahead]) one.watch(this);
    this.#topics.set(reader, topic);
    if (reader.client === undefined) return;
    const isMember =
      this.#members.has(reader.client) ||
      (this.#members.size < this.#host.clients && !this.#waiting.has(reader.client));
    add(isMember ? this.#members : this.#waiting, reader.client, topic);
    if (isMember) topic.lookAhead();
  }
}

function add(streams: Streams, client: string, topic: ClientTopic): void {
  const topics = streams.get(client);
  if (topics === undefined) streams.set(client, new Set([topic]));
  else topics.add(topic);
}

function drop(streams: Streams, client: string, topic: ClientTopic): void {
  const topics = streams.get(client);
  topics?.delete(topic);
  if (topics?.size === 0) streams.delete(client);
}
