import {
  type Committed,
  type Entry,
  type Held,
  type Interest,
  type Refresh,
  type Rejection,
  type Resource,
  type ResourceFeed,
  type ResourceSink,
  type ResourceType,
  type Scope,
  systemClock,
  type Topic,
  type Transaction,
  XdsError,
} from "@xdstp/core";

import { type ApplyHost, applyPlan } from "./apply-plan.ts";
import { type Author, createAuthor } from "./author.ts";
import { Availability } from "./availability.ts";
import { type BaseTopic, MissingTopic } from "./base-topic.ts";
import { type CacheState, createCacheState } from "./cache-state.ts";
import type { Cache, CacheOptions, FeedHandle } from "./cache.ts";
import { CheckBook } from "./check-book.ts";
import { coveredRecords } from "./covered-records.ts";
import { encodeAhead } from "./kept-resource.ts";
import { EventQueue } from "./cache-event.ts";
import { Expiries, type Expiry } from "./expiries.ts";
import { type FeedOptions, type FeedSlot, partOf } from "./feed-runner.ts";
import { FeedPool } from "./feed-pool.ts";
import { atHome, homeType } from "./home-type.ts";
import { KeptRemovals } from "./kept-removals.ts";
import type { NameRecord } from "./name-record.ts";
import { readName, variantOf } from "./read-name.ts";
import { rejectPut } from "./reject-put.ts";
import { planTransaction, type RejectPut, type TransactionPlan } from "./transaction-plan.ts";
import { TypeIndex } from "./type-index.ts";
import type { TypeStore } from "./type-store.ts";
import { UnwantedNames } from "./unwanted-names.ts";
import { rejectVariants } from "./variants/reject-variants.ts";

/** The implementation of {@link Cache}. */
export class CacheCore implements Cache {
  readonly state: CacheState = createCacheState();
  readonly authorities?: readonly string[];
  readonly put: Author["put"];
  readonly remove: Author["remove"];
  readonly transaction: Author["transaction"];
  readonly #types: TypeIndex;
  readonly #feeds: FeedPool;
  readonly #checks = new CheckBook();
  readonly #availability = new Availability();
  readonly #events: EventQueue;
  readonly #expiries: Expiries;
  readonly #unwanted: UnwantedNames;
  readonly #revisions: NonNullable<CacheOptions["revisions"]>;
  readonly #applied: ApplyHost;
  #ready = false;
  #closed = false;

  constructor(options: CacheOptions) {
    const { clock = systemClock, lingerMs = 0, revisions = { last: 0 } } = options;
    this.#revisions = revisions;
    this.#events = new EventQueue(options.onEvent);
    if (options.authorities !== undefined) this.authorities = [...options.authorities];
    this.#feeds = new FeedPool(clock, lingerMs, {
      sink: (slot) => this.#sink(slot),
      onFailed: (slot, error, retryMs) => {
        this.#onFailed(slot, error, retryMs);
      },
      onRecovered: (slot) => {
        this.#onRecovered(slot);
      },
      onEnded: (slot, error) => {
        this.#onEnded(slot, error);
      },
      onChange: (changes) => {
        this.#unwanted.onChange(changes);
      },
      onError: (error) => {
        this.#report(error);
      },
    });
    this.#types = new TypeIndex(options, this.state, {
      now: () => clock.now(),
      wants: (typeUrl, key) => this.#feeds.ledger.wants(typeUrl, key),
      opened: (type, topic) => {
        this.#onOpened(type, topic);
      },
      closed: (type, topic) => {
        this.#onClosed(type, topic);
      },
      outage: (typeUrl, topic) => this.#availability.of(typeUrl, topic),
    });
    this.#expiries = new Expiries(clock, (expired) => {
      this.#expire(expired);
    });
    this.#applied = {
      types: this.#types,
      kept: new KeptRemovals(this.#types),
      tell: (event) => {
        this.#events.add(event);
      },
    };
    this.#unwanted = new UnwantedNames({
      clock,
      lingerMs,
      ledger: this.#feeds.ledger,
      type: (typeUrl) => this.#types.type(typeUrl),
    });
    ({
      put: this.put,
      remove: this.remove,
      transaction: this.transaction,
    } = createAuthor((transaction) => this.commit(transaction)));
  }

  get revision(): number {
    return this.state.revision;
  }

  get ready(): boolean {
    return this.#ready;
  }

  get counters(): Cache["counters"] {
    const counts = { resources: 0, tombstones: 0, topics: 0 };
    for (const type of this.#types) {
      counts.resources += type.size;
      counts.tombstones += type.window.size;
      counts.topics += type.topics.size;
    }
    return { ...this.#events.counts, ...counts };
  }

  get typeUrls(): readonly string[] {
    return [...this.#types].filter(({ size }) => size > 0).map(({ typeUrl }) => typeUrl);
  }

  descriptor(typeUrl: string): ResourceType | undefined {
    return this.#types.descriptor(typeUrl);
  }

  serves(typeUrl: string): boolean {
    return this.#types.serves(typeUrl);
  }

  topic(typeUrl: string, interest: Interest): Topic {
    return this.#types.topic(typeUrl, interest);
  }

  asOf(typeUrl: string, name: string, revision: number): Entry | undefined {
    return this.#types.asOf(typeUrl, name, revision);
  }

  commit(transaction: Transaction): Committed {
    return this.#commit(transaction, undefined);
  }

  checkCommit(transaction: Transaction): readonly Rejection[] {
    return this.#plan(atHome(transaction), undefined).rejected;
  }

  prepare(resource: Resource): void {
    encodeAhead(resource);
  }

  held(typeUrl: string, interest?: Interest): Iterable<Held> {
    return this.#held(typeUrl, interest, undefined);
  }

  unavailable(scope: Scope, error: XdsError | undefined): void {
    this.#availability.set(this, scope, error);
    this.#updateStale(scope);
  }

  addFeed(feed: ResourceFeed, options: FeedOptions = {}): FeedHandle {
    const handle = this.#feeds.add(feed, options, () => this.#watched());
    if (feed.want !== undefined && this.#feeds.complete) this.#beReady();
    this.#events.flush();
    return handle;
  }

  check(typeUrl: string, interest: Interest, check: Parameters<Cache["check"]>[2]): () => void {
    return this.#checks.add(typeUrl, readName(interest.name).key, check);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#unwanted.end();
    this.#expiries.close();
    await this.#feeds.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #held(
    typeUrl: string,
    interest: Interest | undefined,
    slot: FeedSlot | undefined,
  ): Iterable<Held> {
    const home = interest === undefined ? typeUrl : homeType(typeUrl, interest.name);
    const records = coveredRecords(this.#types.type(home), interest, slot);
    return this.#expiries.size === 0
      ? records.flatMap(nameAndVersion)
      : records.flatMap((record) =>
          nameAndVersion(record).map((held) => this.#withTime(home, record, held)),
        );
  }

  #withTime(home: string, record: NameRecord, held: Held): Held {
    const expireMs = this.#expiries.left(home, record);
    return expireMs === undefined ? held : { ...held, expireMs };
  }

  #commit(given: Transaction, slot: FeedSlot | undefined): Committed {
    const transaction = atHome(given);
    const plan = this.#plan(transaction, slot);
    const { rejected } = plan;
    this.#events.counts.rejected += rejected.length;
    if (transaction.atomic === true && rejected.length > 0)
      return { revision: this.state.revision, rejected };
    const revision = this.#publish(transaction.label, () => {
      for (const type of this.#types) type.expire();
      applyPlan(this.#applied, plan, transaction, slot);
      this.#expiries.note(plan);
      for (const refresh of transaction.refresh ?? []) this.#refresh(refresh, slot);
      if (slot?.onDemand === true) this.#noteOnDemand(plan);
      if (slot !== undefined) slot.committed = true;
      if (!this.#ready && this.#feeds.complete) this.#beReady();
    });
    return { revision, ...(rejected.length > 0 ? { rejected } : {}) };
  }

  #plan(
    transaction: ReturnType<typeof atHome>,
    slot: FeedSlot | undefined,
  ): ReturnType<typeof planTransaction> {
    const whole = planTransaction(transaction, this.#reject);
    // The first server of a resource has to keep the rule on variants. A resource from an upstream
    // server is accepted, as in a relay.
    return slot?.onDemand === true ? whole : rejectVariants(whole, transaction, this.#types, slot);
  }

  /**
   * Applies changes as one revision, then wakes the watchers of the topics that it has changed.
   * These may cause further revisions.
   */
  #publish(label: string | undefined, apply: () => void): number {
    const { state } = this;
    const revision = (state.revision = ++this.#revisions.last);
    state.label = label;
    try {
      apply();
    } finally {
      // The watchers are woken even if a function of the options throws and half of the changes are
      // applied.
      state.label = undefined;
      this.#wake();
    }
    return revision;
  }

  #wake(): void {
    const { state } = this;
    const { touched } = state;
    if (touched.size > 0) state.touched = new Set();
    for (const topic of touched) topic.wake();
    this.#events.flush();
  }

  /** Removes expired resources, whichever feed put them (S-TTL-11). */
  #expire(expired: readonly Expiry[]): void {
    this.#publish(undefined, () => {
      for (const { typeUrl, name, text } of expired) {
        const type = this.#types.type(typeUrl);
        type.remove({ name, text, owner: type.find(name)?.owner });
      }
    });
  }

  #refresh(
    { typeUrl, name: text, constraints, expireMs }: Refresh,
    slot: FeedSlot | undefined,
  ): void {
    const home = homeType(typeUrl, text);
    const name = variantOf(readName(text), constraints);
    const record = this.#types.type(home).find(name);
    if (record?.entry?.resource !== undefined && record.owner === slot)
      this.#expiries.refresh(home, name, record.entry.name, expireMs);
  }

  /**
   * Makes the cache ready, within a revision: from now on a name that is not there does not exist,
   * unless a feed on demand may still supply it.
   */
  #beReady(): void {
    if (this.#ready) return;
    this.#ready = true;
    this.#events.add({ kind: "ready", revision: this.state.revision });
    if (this.#feeds.onDemand) return;
    this.state.answersAll = true;
    for (const [, topic] of this.#watched()) topic.settle();
  }

  readonly #reject: RejectPut = (put, name, text) => {
    const { typeUrl, resource } = put;
    if (!this.#types.answersFor(name)) return foreign(typeUrl, text, this.authorities ?? []);
    const error = rejectPut(
      put,
      this.#types.admitted(name),
      text,
      this.#types.descriptor(typeUrl),
      this.#types.memberOf(resource.payload.typeUrl),
    );
    return error ?? this.#checks.reject(typeUrl, name, text, resource, this.#types);
  };

  #sink(slot: FeedSlot): ResourceSink {
    return {
      commit: (transaction) => this.#commit(transaction, slot),
      checkCommit: (transaction) => this.#plan(atHome(transaction), slot).rejected,
      prepare: encodeAhead,
      held: (typeUrl, interest) => this.#held(typeUrl, interest, slot),
      unavailable: (scope, error) => {
        this.#availability.set(slot, scope, error);
        this.#updateStale(scope);
      },
      part: () => this.#sink(partOf(slot)),
    };
  }

  #onFailed(slot: FeedSlot, error: XdsError, retryMs?: number): void {
    this.#availability.set(slot, {}, error);
    this.#updateStale({});
    this.#report(error, retryMs);
  }

  #onRecovered(slot: FeedSlot): void {
    for (const source of [slot, ...slot.parts]) this.#availability.clear(source);
    this.#updateStale({});
  }

  #onEnded(slot: FeedSlot, error: XdsError | undefined): void {
    if (error !== undefined) {
      this.#onFailed(slot, error);
      return;
    }
    this.#onRecovered(slot);
    if (!this.#closed && this.#feeds.complete && (slot.committed || this.#feeds.size > 0))
      this.#publish(undefined, () => {
        this.#beReady();
      });
  }

  #report(error: XdsError, retryMs?: number): void {
    this.#events.add({ kind: "feed-failed", error, ...(retryMs !== undefined && { retryMs }) });
    this.#events.flush();
  }

  /**
   * Updates the outages of the topics in a scope. For a single interest the cost does not depend on
   * the number of topics.
   */
  #updateStale({ typeUrl, interest }: Scope): void {
    if (typeUrl === undefined || interest === undefined)
      for (const [, topic] of this.#watched()) topic.updateStale();
    else
      for (const topic of this.#types
        .type(homeType(typeUrl, interest.name))
        .topicsOf(readName(interest.name).key))
        topic.updateStale();
  }

  *#watched(): Generator<readonly [typeUrl: string, topic: BaseTopic]> {
    for (const type of this.#types) for (const topic of type.topics) yield [type.typeUrl, topic];
  }

  #onOpened(type: TypeStore, topic: BaseTopic): void {
    if (this.#feeds.onDemand && !(topic instanceof MissingTopic))
      this.#feeds.ledger.open(type.typeUrl, topic.interest, topic.key);
  }

  #onClosed(type: TypeStore, topic: BaseTopic): void {
    if (this.#feeds.onDemand && !(topic instanceof MissingTopic))
      this.#feeds.ledger.close(
        type.typeUrl,
        topic.interest,
        topic.key,
        type.hasUnkept && holdsUnkept(topic),
      );
  }

  /**
   * Notes the resources that a feed on demand gave without a subscriber, so that they are dropped
   * later.
   */
  #noteOnDemand({ puts }: TransactionPlan): void {
    for (const {
      put: { typeUrl },
      name,
    } of puts)
      this.#unwanted.note(this.#types.type(typeUrl), name);
  }
}

/**
 * Returns true if a topic has a resource that may not be stored: then its subscription does not
 * linger (B-RELAY-11).
 */
function holdsUnkept(topic: BaseTopic): boolean {
  return topic.members().some(({ resource }) => resource?.noStore === true);
}

function nameAndVersion({ entry }: NameRecord): readonly Held[] {
  const resource = entry?.resource;
  return entry === undefined || resource === undefined
    ? []
    : [
        {
          name: entry.name,
          version: resource.given === "" ? resource.version : resource.given,
          resource,
          ...(resource.constraints === undefined ? {} : { constraints: resource.constraints }),
        },
      ];
}

function foreign(typeUrl: string, text: string, authorities: readonly string[]): XdsError {
  const known = authorities.map((authority) => JSON.stringify(authority)).join(", ");
  const message = `${JSON.stringify(text)} of ${typeUrl}: this cache answers for ${known} only; add the authority to them or rename the resource`;
  return new XdsError("INVALID_ARGUMENT", message, { typeUrl, resource: text, rule: "S-AUTH-8" });
}

/**
 * Creates an empty cache. Without feeds it is ready with its first transaction, even an empty one.
 */
export function createCache(options: CacheOptions = {}): Cache {
  return new CacheCore(options);
}
