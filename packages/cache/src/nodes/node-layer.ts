import {
  InterestMap,
  XdsError,
  type Committed,
  type Entry,
  type Held,
  type Interest,
  type Put,
  type Rejection,
  type Removal,
  type Resource,
  type ResourceSink,
  type ResourceSource,
  type ResourceType,
  type Scope,
  type Topic,
  type Transaction,
  type Watcher,
} from "@xdstp/core";

import { createAuthor, type Author } from "../author.ts";
import { CacheCore } from "../cache-core.ts";
import type { CacheEvent } from "../cache-event.ts";
import type { Cache, CacheOptions } from "../cache.ts";
import { encodeAhead } from "../kept-resource.ts";
import { atHome, homeType } from "../home-type.ts";
import { readName, typedNameKey } from "../read-name.ts";
import type { KeyedRevisions } from "./keyed-revisions.ts";
import { LayeredTopic, type LayerHost } from "./layered-topic.ts";

/**
 * The content of one node key. It is written like a cache, and read as its clients see it, with the
 * shared content included.
 * A name that is put here replaces the shared resource of that name for these clients only. When it
 * is removed they see the shared resource again.
 */
export interface NodeContent extends ResourceSource, ResourceSink, Author {
  /** The node key, as `keyOf` returns it. */
  readonly key: string;
  /** The number of resources under this key; shared ones do not count. */
  readonly resources: number;
  /**
   * Applies a transaction at once, all or nothing. Throws INVALID_ARGUMENT for an xdstp name, which
   * is the same for every node (B-NODE-7), and for a resource with `expireMs`.
   */
  commit(transaction: Transaction): Committed;
  /** Returns the resources that `commit` would reject or throw for, and changes nothing. */
  checkCommit(transaction: Transaction): readonly Rejection[];
  /** Removes everything that was put under this key: its clients see the shared content. */
  clear(): Committed;
}

/** The options of a layer, most of which all layers share. */
export interface LayerOptions {
  readonly key: string;
  readonly shared: Cache;
  /** The source of which all layers and the shared content are views. */
  readonly root: ResourceSource;
  readonly revisions: NonNullable<CacheOptions["revisions"]>;
  readonly keyed: KeyedRevisions;
  readonly cacheOptions: CacheOptions;
  readonly now: () => number;
  /** Returns true if a resource is put under some key. */
  readonly isAnyOwned: () => boolean;
  readonly tombstoneMs: number;
  /** Called after each transaction with the names that were put or removed. */
  readonly onOwn: (layer: NodeLayer, names: readonly OwnName[]) => void;
}

/** A resource that is or was put under a key. */
export interface OwnName {
  readonly typeUrl: string;
  readonly name: string;
}

/** The content of one key over the shared content. */
export class NodeLayer implements NodeContent, LayerHost {
  readonly key: string;
  readonly authorities?: readonly string[];
  readonly viewOf: ResourceSource;
  readonly put: Author["put"];
  readonly remove: Author["remove"];
  readonly transaction: Author["transaction"];
  floor = 0;
  readonly #options: LayerOptions;
  /** The cache of the key. undefined: nothing was ever put. */
  #upper: CacheCore | undefined;
  /**
   * The names that come from `#upper`, by type and key: own ones, and copies of shared resources
   * that replace a removed own one.
   */
  readonly #covered = new Map<string, Map<string, string>>();
  /** The copies of shared resources in `#upper`, by type and key. */
  readonly #copies = new Map<string, Map<string, Copy>>();
  readonly #topics = new InterestMap<WeakRef<LayeredTopic>>();
  readonly #watched = new Set<LayeredTopic>();
  #resources = 0;

  constructor(options: LayerOptions) {
    this.#options = options;
    this.key = options.key;
    this.viewOf = options.root;
    if (options.shared.authorities !== undefined) this.authorities = options.shared.authorities;
    ({
      put: this.put,
      remove: this.remove,
      transaction: this.transaction,
    } = createAuthor((transaction) => this.commit(transaction)));
  }

  /** The key; undefined while no key has content, since all clients then have the same view. */
  get viewKey(): string | undefined {
    return this.#options.isAnyOwned() ? this.key : undefined;
  }
  get revision(): number {
    return this.#options.revisions.last;
  }
  get ready(): boolean {
    return this.#options.shared.ready;
  }
  get resources(): number {
    return this.#resources;
  }

  changedBy(revision: number): boolean {
    return this.#options.keyed.concerns(revision, this.key);
  }

  descriptor(typeUrl: string): ResourceType | undefined {
    return this.#options.shared.descriptor(typeUrl);
  }
  serves(typeUrl: string): boolean {
    return this.#options.shared.serves(typeUrl) || this.#upper?.serves(typeUrl) === true;
  }

  topic(typeUrl: string, interest: Interest): Topic {
    const home = homeType(typeUrl, interest.name);
    const lower = this.#options.shared.topic(home, interest);
    const known = this.#topics.get(home, interest, interest.name)?.deref();
    if (known?.isOver(lower) === true) return known;
    const topic = new LayeredTopic(home, lower, this);
    this.#topics.set(home, interest, interest.name, new WeakRef(topic));
    forgotten.register(topic, { topics: this.#topics, home, interest });
    return topic;
  }

  asOf(typeUrl: string, name: string, revision: number): Entry | undefined {
    const isCovered = this.#covered.get(homeType(typeUrl, name))?.has(readName(name).key) === true;
    return (
      (isCovered ? this.#upper?.asOf(typeUrl, name, revision) : undefined) ??
      this.#options.shared.asOf(typeUrl, name, revision)
    );
  }

  covered(typeUrl: string): ReadonlyMap<string, string> | undefined {
    return this.#covered.get(typeUrl);
  }
  upper(typeUrl: string, interest: Interest): Topic | undefined {
    return this.#upper?.topic(typeUrl, interest);
  }

  /** The type URLs of which a resource is or was put under this key. */
  get typeUrls(): readonly string[] {
    return [...this.#covered.keys()];
  }

  /** Returns all names that are put under this key. */
  *ownNames(): Iterable<OwnName> {
    for (const [typeUrl, names] of this.#covered)
      for (const name of names.values()) if (!this.#isCopy(typeUrl, name)) yield { typeUrl, name };
  }

  /** Returns the topic of all resources of a type under this key, including copies of shared ones. */
  own(typeUrl: string): Topic {
    return this.#core().topic(typeUrl, { name: "*" });
  }
  opened(topic: LayeredTopic): void {
    this.#watched.add(topic);
  }
  closed(topic: LayeredTopic): void {
    this.#watched.delete(topic);
  }

  *held(typeUrl: string, interest?: Interest): Iterable<Held> {
    for (const held of this.#upper?.held(typeUrl, interest) ?? [])
      if (!this.#isCopy(homeType(typeUrl, held.name), held.name)) yield held;
  }

  unavailable(scope: Scope, error: XdsError | undefined): void {
    this.#options.shared.unavailable(scope, error);
  }

  clear(): Committed {
    return this.commit({
      remove: [...this.#covered.keys()].flatMap((typeUrl) =>
        [...this.held(typeUrl)].map(({ name, constraints }): Removal => ({
          typeUrl,
          name,
          ...(constraints && { constraints }),
        })),
      ),
    });
  }

  checkCommit(given: Transaction): readonly Rejection[] {
    const transaction = atHome(given);
    const faults = (transaction.put ?? []).flatMap(
      ({ typeUrl, resource }): readonly Rejection[] => {
        const error = putFault(resource);
        return error === undefined ? [] : [{ typeUrl, name: resource.name, error }];
      },
    );
    return faults.length > 0 ? faults : this.#core().checkCommit(this.#plan(transaction));
  }

  prepare(resource: Resource): void {
    encodeAhead(resource);
  }

  commit(given: Transaction): Committed {
    const transaction = atHome(given);
    for (const { resource } of transaction.put ?? []) {
      const error = putFault(resource);
      if (error !== undefined) throw error;
    }
    const plan = this.#plan(transaction);
    const uncover = this.#cover(plan.put);
    const isNew = this.#upper === undefined;
    const committed = this.#core().commit({
      ...plan,
      atomic: true,
      ...(transaction.label !== undefined && { label: transaction.label }),
    });
    if (committed.rejected === undefined) {
      this.#options.keyed.note(committed.revision, [this.key]);
      this.#note(transaction.put ?? [], plan);
    } else uncover();
    this.#forgetOld();
    if (isNew || committed.rejected === undefined)
      for (const topic of [...this.#watched]) topic.attach();
    return committed;
  }

  #core(): CacheCore {
    return (this.#upper ??= new CacheCore({
      ...this.#options.cacheOptions,
      revisions: this.#options.revisions,
      onEvent: (event) => {
        this.#observe(event);
      },
    }));
  }

  /**
   * Passes on the events of the cache of the key. `ready` is left out, since only the shared
   * content decides when clients are served.
   */
  #observe(event: CacheEvent): void {
    if (event.kind !== "ready") this.#options.cacheOptions.onEvent?.(event);
  }

  /**
   * Plans a transaction: a name that is removed is replaced by a copy of the shared resource, if
   * there is one.
   */
  #plan({ put = [], remove = [], complete = [] }: Transaction): Plan {
    const given = new Set(put.map(({ typeUrl, resource }) => typedNameKey(typeUrl, resource.name)));
    const rest = complete.flatMap(({ typeUrl, interest }) =>
      [...this.held(typeUrl, interest)]
        .filter(({ name }) => !given.has(typedNameKey(typeUrl, name)))
        .map(({ name, constraints }): Removal => ({
          typeUrl,
          name,
          ...(constraints && { constraints }),
        })),
    );
    const all = [...remove, ...rest].filter(({ typeUrl, name }) => this.owns(typeUrl, name));
    const copies = all.flatMap(({ typeUrl, name, constraints }): readonly Put[] =>
      constraints === undefined ? this.#sharedPuts(typeUrl, name) : [],
    );
    const copied = new Set(
      copies.map(({ typeUrl, resource }) => typedNameKey(typeUrl, resource.name)),
    );
    return {
      put: [...put, ...copies],
      remove: all.filter(({ typeUrl, name }) => !copied.has(typedNameKey(typeUrl, name))),
      copies,
      gone: all,
    };
  }

  #sharedPuts(typeUrl: string, name: string): readonly Put[] {
    return [...this.#options.shared.held(typeUrl, { name })].flatMap(({ resource }) => {
      return resource === undefined ? [] : [{ typeUrl, resource: copyOf(resource) }];
    });
  }

  /**
   * Marks the names of puts as covered before watchers are woken. Returns a function that undoes
   * it.
   */
  #cover(put: readonly Put[]): () => void {
    const fresh: (readonly [Map<string, string>, string])[] = [];
    for (const {
      typeUrl,
      resource: { name },
    } of put) {
      const ofType = this.#covered.get(typeUrl) ?? new Map<string, string>();
      this.#covered.set(typeUrl, ofType);
      const { key } = readName(name);
      if (ofType.has(key)) continue;
      ofType.set(key, name);
      fresh.push([ofType, key]);
    }
    return () => {
      for (const [ofType, key] of fresh) ofType.delete(key);
    };
  }

  #note(put: readonly Put[], { gone }: Plan): void {
    const whole = gone.filter(
      ({ typeUrl, name, constraints }) =>
        !this.#isCopy(typeUrl, name) &&
        (constraints === undefined ||
          this.#upper?.held(typeUrl, { name })[Symbol.iterator]().next().done === true),
    );
    for (const { typeUrl, name } of whole) this.#copy(typeUrl, name);
    for (const {
      typeUrl,
      resource: { name },
    } of put)
      this.#endCopy(typeUrl, readName(name).key);
    this.#resources = [...this.#covered].reduce(
      (sum, [typeUrl, names]) => sum + names.size - (this.#copies.get(typeUrl)?.size ?? 0),
      0,
    );
    this.#options.onOwn(this, [
      ...put.map(({ typeUrl, resource: { name } }) => ({ typeUrl, name })),
      ...gone,
    ]);
  }

  /** Keeps a copy of the shared resource of a name from now on, under revisions of the key. */
  #copy(typeUrl: string, name: string): void {
    const topic = this.#options.shared.topic(typeUrl, { name });
    const self = new WeakRef(this);
    let { head } = topic;
    const watcher: Watcher = {
      wake: (moved) => {
        const layer = self.deref();
        if (layer === undefined) moved.unwatch(watcher);
        else if (moved.head !== head) {
          // A wake because of an outage makes no revision.
          ({ head } = moved);
          layer.#update(typeUrl, name);
        }
      },
    };
    topic.watch(watcher);
    const ofType = this.#copies.get(typeUrl) ?? new Map<string, Copy>();
    this.#copies.set(typeUrl, ofType);
    ofType.set(readName(name).key, {
      name,
      since: this.#options.now(),
      end: () => {
        topic.unwatch(watcher);
      },
    });
  }

  #endCopy(typeUrl: string, key: string): void {
    const ofType = this.#copies.get(typeUrl);
    ofType?.get(key)?.end();
    ofType?.delete(key);
  }

  #update(typeUrl: string, name: string): void {
    const put = this.#sharedPuts(typeUrl, name);
    this.#upper?.commit(put.length > 0 ? { put } : { remove: [{ typeUrl, name }] });
  }

  /**
   * Drops copies that are older than the tombstone time: every reader has had the time to read
   * them.
   */
  #forgetOld(): void {
    const { now, tombstoneMs, revisions } = this.#options;
    const remove: Removal[] = [];
    for (const [typeUrl, copies] of this.#copies) {
      for (const [key, { name, since }] of copies) {
        if (now() - since < tombstoneMs) break;
        this.#endCopy(typeUrl, key);
        this.#covered.get(typeUrl)?.delete(key);
        remove.push({ typeUrl, name });
      }
    }
    if (remove.length === 0) return;
    this.floor = revisions.last;
    this.#upper?.commit({ remove });
  }

  #isCopy(typeUrl: string, name: string): boolean {
    return this.#copies.get(typeUrl)?.has(readName(name).key) === true;
  }

  /** Returns true if a name is put under this key. */
  owns(typeUrl: string, name: string): boolean {
    return (
      this.#covered.get(typeUrl)?.has(readName(name).key) === true && !this.#isCopy(typeUrl, name)
    );
  }
}

interface Copy {
  readonly name: string;
  readonly since: number;
  end(): void;
}

interface Plan {
  readonly put: readonly Put[];
  readonly remove: readonly Removal[];
  /** Copies of shared resources, which replace removed names. */
  readonly copies: readonly Put[];
  readonly gone: readonly Removal[];
}

const forgotten = new FinalizationRegistry<{
  readonly topics: InterestMap<WeakRef<LayeredTopic>>;
  readonly home: string;
  readonly interest: Interest;
}>(({ topics, home, interest }) => {
  if (topics.get(home, interest, interest.name)?.deref() === undefined)
    topics.delete(home, interest, interest.name);
});

/**
 * Returns why a resource cannot be put under a key. An xdstp name is the same for every node
 * (B-NODE-7).
 */
function putFault({ name, expireMs }: Resource): XdsError | undefined {
  if (name.startsWith("xdstp:"))
    return new XdsError(
      "INVALID_ARGUMENT",
      `${JSON.stringify(name)} is an xdstp name, which has the same content for every node; put it into the shared content, or use an opaque name`,
    );
  if (expireMs !== undefined)
    return new XdsError(
      "INVALID_ARGUMENT",
      `${JSON.stringify(name)} has expireMs, which content of one node key cannot have; remove it yourself, or put it into the shared content`,
    );
  return undefined;
}

/**
 * Copies a cached resource. Its properties are accessors, which a spread would lose. `expireMs` is
 * not copied: the shared resource expires, and the copy follows it.
 */
function copyOf({
  name,
  version,
  payload,
  aliases,
  ttlMs,
  noStore,
  constraints,
  metadata,
}: Resource): Resource {
  return {
    name,
    version,
    payload,
    ...(aliases && { aliases }),
    ...(ttlMs !== undefined && { ttlMs }),
    ...(noStore !== undefined && { noStore }),
    ...(constraints && { constraints }),
    ...(metadata && { metadata }),
  };
}
