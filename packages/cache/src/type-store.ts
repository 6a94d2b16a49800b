import { isSameError, type Interest, type Resource, type XdsError } from "@xdstp/core";

import { AliasIndex } from "./alias-index.ts";
import type { BaseTopic } from "./base-topic.ts";
import type { CacheState, Outage } from "./cache-state.ts";
import { CollectionTopic, type CollectionHost } from "./collection-topic.ts";
import { ExactTopic, type ExactHost } from "./exact-topic.ts";
import {
  enlist,
  forGroups,
  Group,
  type LastVersion,
  NameRecord,
  noteIn,
  type Owner,
  unlist,
} from "./name-record.ts";
import { lastVersion, nextResource } from "./next-resource.ts";
import { readName, type ReadName } from "./read-name.ts";
import { ReplacedEntries, TombstoneWindow, type WindowLimits } from "./past-entries.ts";
import { NO_ENTRIES, StateEntry } from "./state-entry.ts";
import { TopicIndex } from "./topic-index.ts";
import { VariantIndex, type VariantSet } from "./variants/variant-set.ts";

/** The cache, as the store of a type uses it. */
export interface TypeHost {
  readonly state: CacheState;
  readonly limits: WindowLimits;
  /** The number of bytes of replaced resources that are kept of a type. */
  readonly replacedBytes: number;
  now(): number;
  /** Returns true if `*` covers a name. */
  inWildcard(typeUrl: string, text: string, name: ReadName): boolean;
  /** Returns true if feeds are subscribed to this name, or may still be. */
  wants(typeUrl: string, key: string): boolean;
  opened(type: TypeStore, topic: BaseTopic): void;
  closed(type: TypeStore, topic: BaseTopic): void;
  outage(typeUrl: string, topic: BaseTopic): Outage | undefined;
}

/** A name and its writer, in a change. */
export interface Change {
  readonly name: ReadName;
  readonly text: string;
  readonly owner: Owner | undefined;
}

/** The state of one type: records by name, groups by parent, topics by spelling. */
export class TypeStore implements ExactHost, CollectionHost {
  readonly typeUrl: string;
  readonly state: CacheState;
  readonly wildcard: Group = new Group("*", 0);
  readonly records: Map<string, NameRecord> = new Map<string, NameRecord>();
  readonly window: TombstoneWindow;
  /** True if a resource of the type is or was cached. */
  served = false;
  /** True if a resource of the type is or was cached that a relay may not store (B-RELAY-11). */
  hasUnkept = false;
  readonly #host: TypeHost;
  readonly #aliases = new AliasIndex();
  readonly #replaced: ReplacedEntries;
  readonly #groups = new Map<string, Group>();
  readonly #topics = new TopicIndex(this.records);
  readonly #variants: VariantIndex;
  #size = 0;
  /**
   * Topics to notify when a name is removed or exists again, though they no longer show it; by the
   * key of the name.
   */
  readonly #former = new Map<string, Set<ExactTopic>>();
  /** Groups that were kept for their error when they had no subscribers, oldest first. */
  readonly #explained = new Set<Group>();
  /** The floor of groups that are no longer kept. */
  #floor = 0;

  constructor(typeUrl: string, host: TypeHost) {
    this.typeUrl = typeUrl;
    this.#host = host;
    this.#variants = new VariantIndex(typeUrl, this.records);
    this.state = host.state;
    this.#replaced = new ReplacedEntries(host.replacedBytes);
    this.window = new TombstoneWindow(host.limits, (record, entry) => {
      this.#dropTombstone(record, entry);
    });
  }

  /** The number of resources. */
  get size(): number {
    return this.#size;
  }

  /** The watched topics, one for each spelling. */
  get topics(): Iterable<BaseTopic> & { readonly size: number } {
    return this.#topics;
  }

  /** Returns the watched topics of an interest, in every spelling. */
  topicsOf(key: string): readonly BaseTopic[] {
    return [...this.#topics.exact(key), ...(this.knownGroup(key)?.topics ?? [])];
  }

  /** True if nothing was ever cached, and there are no records and no watched topics. */
  get blank(): boolean {
    return !this.served && this.topics.size === 0 && this.records.size === 0;
  }

  watchedTopic(interest: Interest): BaseTopic | undefined {
    return this.#topics.find(interest);
  }

  /** Creates a topic, which has no watchers yet. */
  createTopic(interest: Interest, name: ReadName): BaseTopic {
    if (interest.name === "*" || name.kind === "glob")
      return new CollectionTopic(this, interest, this.group(name.key));
    // Uses the string of the record, so that the string of the client can be freed.
    return new ExactTopic(this, interest, this.records.get(name.key)?.key ?? name.key);
  }

  /** Returns the group of a glob. It is stored once it has a record or a topic. */
  group(key: string): Group {
    return this.knownGroup(key) ?? new Group(key, this.#floor);
  }

  /** Returns the wildcard, or the stored group of a glob. */
  knownGroup(key: string): Group | undefined {
    return key === "*" ? this.wildcard : this.#groups.get(key);
  }

  /** Returns the records of a group that exist or have a tombstone. */
  recordsIn(group: Group): Iterable<NameRecord> {
    return group === this.wildcard
      ? this.all().filter(({ inWildcard, place }) => inWildcard && place >= 0)
      : group.records;
  }

  record(key: string): NameRecord | undefined {
    return this.records.get(key);
  }

  /** Returns the record of exactly this name and variant. */
  find(name: Pick<ReadName, "key" | "variant">): NameRecord | undefined {
    return this.#variants.find(name);
  }

  variantsOf(key: string): VariantSet | undefined {
    return this.#variants.of(key);
  }

  /** Returns the records of a name and its variants. */
  recordsOf(key: string): readonly NameRecord[] {
    const own = this.records.get(key);
    const variants = this.#variants.of(key)?.values() ?? [];
    return own === undefined ? [...variants] : [own, ...variants];
  }

  /** Yields all names with all their variants. */
  *all(): Generator<NameRecord> {
    yield* this.records.values();
    yield* this.#variants.values();
  }

  aliasOf(key: string): NameRecord | undefined {
    return this.#aliases.first(key);
  }

  /**
   * Returns a name or alias as it was at a revision, if that entry is still kept. undefined for a
   * name with variants, since it is not known which one is meant.
   */
  asOf(key: string, revision: number): StateEntry | undefined {
    if (this.#variants.of(key) !== undefined) return undefined;
    let entry = (this.records.get(key) ?? this.aliasOf(key))?.entry;
    while (entry !== undefined && entry.revision > revision) entry = entry.replaced;
    return entry;
  }

  /**
   * Returns all records of an interest: the members of a collection, or a name and the resources
   * that have it as an alias.
   */
  related(key: string): readonly NameRecord[] {
    const group = this.knownGroup(key);
    if (group !== undefined) return [...this.recordsIn(group)];
    return [...this.recordsOf(key), ...this.#aliases.all(key)];
  }

  keyOf(name: string): string {
    return readName(name).key;
  }

  entryIn(group: Group, name: string, parameters: Interest["parameters"]): StateEntry | undefined {
    const key = this.keyOf(name);
    const variants = this.#variants.of(key);
    const record = variants === undefined ? this.records.get(key) : this.recordsOf(key)[0];
    const entry = variants === undefined ? record?.entry : variants.shown(parameters);
    if (record === undefined || entry?.resource === undefined) return undefined;
    return record.group === group || (group === this.wildcard && record.inWildcard)
      ? entry
      : undefined;
  }

  entryOf(record: NameRecord, parameters: Interest["parameters"]): StateEntry | undefined {
    const variants = this.#variants.of(record.key);
    return variants === undefined ? record.entry : variants.entryOf(record, parameters);
  }

  goneOf(name: string, parameters: Interest["parameters"]): readonly StateEntry[] {
    return this.#variants.isEmpty
      ? NO_ENTRIES
      : (this.#variants.of(this.keyOf(name))?.removed(parameters) ?? NO_ENTRIES);
  }

  expire(): void {
    this.window.expire(this.#host.now());
  }

  opened(topic: BaseTopic): void {
    this.#topics.add(topic);
    if (topic instanceof CollectionTopic) {
      const { group } = topic;
      group.topics.add(topic);
      if (group !== this.wildcard) this.#groups.set(group.key, group);
    }
    if (topic instanceof ExactTopic) for (const former of topic.former) this.miss(former, topic);
    this.#host.opened(this, topic);
  }

  closed(topic: BaseTopic): void {
    this.#topics.delete(topic);
    if (topic instanceof CollectionTopic) {
      topic.group.topics.delete(topic);
      this.prune(topic.group);
      this.#limitExplained(topic.group);
    }
    if (topic instanceof ExactTopic) this.#forgetExact(topic);
    this.#host.closed(this, topic);
  }

  outage(topic: BaseTopic): Outage | undefined {
    return this.#host.outage(this.typeUrl, topic);
  }

  /** Puts a resource. Returns true if its version was made unique (B-VER-5). */
  put({ name, text, owner }: Change, resource: Resource, asLink: boolean): boolean {
    const record = this.find(name) ?? this.#create(name, text);
    const old = record.entry;
    record.owner = owner;
    const spelling = old?.resource === undefined ? text : old.name;
    const named = asLink || resource.name === spelling ? resource : { ...resource, name: spelling };
    const next = nextResource(old?.resource, this.#lastOf(record, named), named);
    const restored = this.#aliases.restore(record);
    if (next.resource === undefined) {
      for (const alias of restored) this.#refreshAlias(alias, record);
      return false;
    }
    const { revision, label } = this.state;
    const since = old?.resource === undefined ? revision : old.since;
    this.#enter(
      record,
      new StateEntry({ revision, name: spelling, since, resource: next.resource, label }),
    );
    this.served = true;
    if (resource.noStore === true) this.hasUnkept = true;
    return next.reused === true;
  }

  /** Removes a name, or records that a subscribed one does not exist. */
  remove({ name, text, owner }: Change, error?: XdsError): void {
    let record = this.find(name);
    const old = record?.entry;
    if (
      old === undefined
        ? name.variant !== undefined || !this.#isNews(name.key, error)
        : old.resource === undefined && isSameError(old.error, error)
    )
      return;
    record ??= this.#create(name, text);
    record.owner = owner;
    if (old?.resource !== undefined) record.last = lastVersion(old.resource);
    const tombstone =
      old !== undefined && !old.gone && (old.resource !== undefined || old.tombstone);
    const { revision, label } = this.state;
    this.#enter(
      record,
      new StateEntry({
        revision,
        name: old?.name ?? text,
        since: old?.resource === undefined ? 0 : old.since,
        error,
        label,
        tombstone,
        constraints: old?.resource?.constraints ?? old?.constraints,
      }),
    );
    if (record.entry !== undefined) this.window.add(record, record.entry, this.#host.now());
  }

  /**
   * Ends an alias, since a name was removed that only an alias leads to. The resource stays, but
   * without the alias until it is put again (C-ALIAS-6). `isPut`: returns true for records that
   * were put in the same transaction.
   */
  endAlias({ name: { key }, owner }: Change, isPut: (record: NameRecord) => boolean): void {
    for (const record of [...this.#aliases.all(key)]) {
      if (record.owner !== owner || isPut(record)) continue;
      this.#aliases.end(key, record);
      this.#refreshAlias(key, record);
    }
  }

  /** Concludes that a name without an entry does not exist. */
  settleName(change: Change, error?: XdsError): void {
    if (this.records.get(change.name.key)?.entry === undefined) this.remove(change, error);
  }

  /**
   * Concludes that a collection with subscribers is complete. `error`: why it is empty; a later
   * call replaces it. Where no feed supplies on demand, an error is kept without subscribers too,
   * of as many groups as removals are kept.
   */
  settleGroup(
    group: Group,
    {
      error,
      wasSaid = true,
    }: { readonly error?: XdsError | undefined; readonly wasSaid?: boolean } = {},
  ): void {
    if (
      group.settled
        ? !wasSaid || isSameError(group.error, error)
        : group.topics.size === 0 &&
          !this.#host.wants(this.typeUrl, group.key) &&
          !(error !== undefined && this.state.answersAll)
    )
      return;
    group.settled = true;
    group.error = error;
    if (group !== this.wildcard) this.#groups.set(group.key, group);
    for (const topic of group.topics) topic.settle();
    this.#limitExplained(group);
  }

  renew(record: NameRecord): void {
    const { revision, label } = this.state;
    if (record.entry !== undefined) this.#enter(record, record.entry.with({ revision, label }));
  }

  miss(key: string, topic: ExactTopic): void {
    const topics = this.#former.get(key);
    if (topics === undefined) this.#former.set(key, new Set([topic]));
    else topics.add(topic);
  }

  leave(key: string, topic: ExactTopic): void {
    const topics = this.#former.get(key);
    topics?.delete(topic);
    if (topics?.size === 0) this.#former.delete(key);
  }

  /** Drops a name without subscribers. It was not removed upstream, so it leaves no tombstone. */
  forget(record: NameRecord): void {
    if (this.find(record) !== record) return;
    const { entry } = record;
    if (entry !== undefined && !entry.dead) {
      if (entry.resource === undefined) this.window.supersede();
      entry.gone = true;
    }
    unlist(record, this.wildcard, this.state.revision);
    if (record.variant === undefined)
      this.#aliases.replace(record, entry?.resource?.aliases, undefined);
    this.#count(entry, undefined);
    this.#delete(record);
  }

  /** Drops a group that has no state. */
  prune(group: Group): void {
    if (group === this.wildcard || !group.blank) return;
    this.#floor = Math.max(this.#floor, group.floor);
    this.#groups.delete(group.key);
  }

  /**
   * Notes a group without subscribers that has an error. Drops the errors of the oldest such groups
   * when there are twice as many as are kept, so that each costs the same.
   */
  #limitExplained(group: Group): void {
    const { count } = this.#host.limits;
    if (group.error === undefined || group.topics.size > 0 || !this.state.answersAll) return;
    this.#explained.delete(group);
    this.#explained.add(group);
    if (this.#explained.size <= 2 * count) return;
    for (const oldest of this.#explained) {
      if (this.#explained.size <= count) return;
      this.#explained.delete(oldest);
      if (oldest.topics.size > 0) continue;
      oldest.settled = false;
      oldest.error = undefined;
      this.prune(oldest);
    }
  }

  /**
   * Returns true if a name without content has subscribers that are not notified of that yet. An
   * error is always kept for later subscribers, for as long as a removal (S-ERR-1).
   */
  #isNews(key: string, error: XdsError | undefined): boolean {
    return (
      error !== undefined ||
      this.#host.wants(this.typeUrl, key) ||
      this.#topics.exact(key).some((topic) => !topic.isMissing(error))
    );
  }

  /**
   * Returns the version that a put may reuse for other content. For a variant, the other variants
   * of the name count too, since a client that reconnects lists only name and version (B-VER-5).
   */
  #lastOf(record: NameRecord, { version }: Resource): LastVersion | undefined {
    if (record.variant === undefined)
      return record.entry?.resource === undefined ? record.last : undefined;
    const others = this.recordsOf(record.key).flatMap(
      ({ last, entry }) =>
        (entry?.resource === undefined ? last : lastVersion(entry.resource)) ?? [],
    );
    return version === "" ? undefined : others.find(({ given }) => given === version);
  }

  #create(name: ReadName, text: string): NameRecord {
    const group = name.parent === undefined ? undefined : this.group(name.parent);
    const record = new NameRecord(
      name.key,
      group,
      this.#host.inWildcard(this.typeUrl, text, name),
      name.variant,
    );
    if (group !== undefined && group.size++ === 0) this.#groups.set(group.key, group);
    if (name.variant === undefined) {
      this.records.set(name.key, record);
      this.#topics.adopt(record);
    } else {
      this.#variants.add(record, name.variant.text);
    }
    return record;
  }

  #delete(record: NameRecord): void {
    if (
      !(record.variant === undefined
        ? this.records.delete(record.key)
        : this.#variants.delete(record))
    )
      return;
    this.#topics.release(record);
    if (record.group === undefined) return;
    record.group.size--;
    this.prune(record.group);
  }

  /**
   * Makes an entry the newest of its name, in every topic concerned: its exact name, its aliases,
   * its glob, the wildcard.
   */
  #enter(record: NameRecord, entry: StateEntry): void {
    const old = record.entry;
    this.state.work++;
    if (old !== undefined && old.resource === undefined && !old.dead) this.window.supersede();
    old?.supersede();
    if (old !== undefined && !isUnkept(old, record)) this.#replaced.note(entry, old);
    record.entry = entry;
    this.#count(old, entry);
    const variants = this.#variants.of(record.key);
    if (entry.resource !== undefined) enlist(record);
    if (variants === undefined) noteIn(record, this.wildcard, old, entry);
    else this.#noteVariant(record, old, variants);
    if (record.variant === undefined) this.#enterAliases(record, old, entry);
    for (const topic of this.#topics.of(record)) topic.refresh(record.key);
    if (
      this.#former.size > 0 &&
      record.variant === undefined &&
      (entry.resource === undefined || old?.resource === undefined)
    )
      for (const topic of this.#former.get(record.key) ?? []) topic.refresh(record.key);
  }

  /**
   * Passes a change of a name with variants to its groups. The effect on a topic depends on its
   * parameters (B-DYN-3).
   */
  #noteVariant(record: NameRecord, old: StateEntry | undefined, variants: VariantSet): void {
    const stepsFor = variants.changed(record, old, this.state);
    forGroups(record, this.wildcard, (group) => {
      group.noteVariant(stepsFor);
    });
  }

  /** Updates the aliases of a record. Variants are not found by aliases. */
  #enterAliases(record: NameRecord, old: StateEntry | undefined, entry: StateEntry): void {
    const aliases = this.#aliases.replace(record, old?.resource?.aliases, entry.resource?.aliases);
    for (const alias of aliases) {
      this.#refreshAlias(alias, record);
      this.#settleAlias(alias, record.owner);
    }
  }

  /** Notifies the topics of an alias that it leads to another resource, or to none. */
  #refreshAlias(alias: string, record: NameRecord): void {
    for (const topic of this.#topics.exact(alias)) topic.refresh(record.key);
  }

  /**
   * Records that a subscribed alias leads to no resource any more. That is an answer, which has to
   * outlive the topic.
   */
  #settleAlias(key: string, owner: Owner | undefined): void {
    if (
      this.records.has(key) ||
      !this.#host.wants(this.typeUrl, key) ||
      this.#aliases.first(key) !== undefined
    )
      return;
    this.remove({ name: readName(key), text: key, owner });
  }

  #count(old: StateEntry | undefined, entry: StateEntry | undefined): void {
    if (old?.resource !== undefined) this.#size--;
    if (entry?.resource !== undefined) this.#size++;
  }

  /**
   * Forgets the spelling of a topic without watchers: no text that a client chose is kept longer
   * than its subscription.
   */
  #forgetExact(topic: ExactTopic): void {
    for (const former of topic.former) this.leave(former, topic);
    if (this.#topics.find({ name: topic.interest.name }) === undefined)
      for (const { entry } of this.recordsOf(topic.key)) entry?.forget(topic.interest.name);
  }

  /**
   * Drops a removal that has left the window. It is kept longer only if its exact name has
   * subscribers.
   */
  #dropTombstone(record: NameRecord, entry: StateEntry): void {
    entry.gone = true;
    unlist(record, this.wildcard, entry.revision);
    if (record.variant !== undefined || !this.#host.wants(this.typeUrl, record.key))
      this.#delete(record);
  }
}

/** Returns true for a resource from a feed on demand that may not be stored (B-RELAY-11). */
function isUnkept({ resource }: StateEntry, { owner }: NameRecord): boolean {
  return resource?.noStore === true && owner?.onDemand === true;
}
