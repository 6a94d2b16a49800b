import {
  systemClock,
  XdsError,
  type Clock,
  type Interest,
  type Reference,
  type ResourceSource,
  type StoredResource,
  type Topic,
  type Watcher,
} from "@xdstp/core";

import { compose, nothing, type Composition } from "./composition.ts";
import { createInitialFetch, type Graph, type InitialFetch } from "./graph.ts";
import {
  type GraphReader,
  knownReferences,
  type KnownReferences,
  type Looked,
  lookUp,
  nodeOf,
  walkGraph,
} from "./walk-graph.ts";
import { type KeyedReference, placed, unplaced, type Place, type PlaceOf } from "./places.ts";
import { referenceFault, typeFault } from "./faults.ts";

/** Options of `watchGraph`. */
export interface GraphWatchOptions {
  /** Returns true if a reference is followed. Default: all are. */
  readonly follow?: (reference: Reference) => boolean;
  /**
   * The maximum number of names in the graph. A graph with more is not put in force. Default:
   * 100,000.
   */
  readonly maxResources?: number;
  /**
   * Milliseconds after which the first graph goes without the names that have not arrived
   * (C-WARM-3). Default: 0, no limit.
   */
  readonly initialFetchMs?: number;
  /** Finds the place of a reference with a ConfigSource. Default: the source, as for all others. */
  readonly placeOf?: PlaceOf;
  /** The place of the root. Default: the source. */
  readonly rootAt?: Place | undefined;
  /**
   * Returns the subscription for a name in a payload. Throws an XdsError if it cannot be
   * subscribed. Default: the name itself.
   */
  readonly interestOf?: (reference: Reference) => Interest;
  /**
   * Called when a name is first needed. Returns a function that ends the need. Default: nothing.
   */
  readonly onWanted?: (typeUrl: string, interest: Interest) => () => void;
  /**
   * Returns the reason why a cached resource cannot be used. Default: an error for a payload of
   * another type.
   */
  readonly faultOf?: (typeUrl: string, resource: StoredResource) => XdsError | undefined;
  /**
   * Returns when a server sent what the source has for a name, in milliseconds since the epoch;
   * undefined if it is not from a snapshot. Called while its topic is stale. Default: nothing is
   * from a snapshot.
   */
  readonly restoredAt?: (typeUrl: string, interest: Interest) => number | undefined;
  /** Called when a topic has changed, before the next walk. Default: nothing. */
  readonly onWake?: (typeUrl: string, topic: Topic) => void;
  /** Called after each walk. */
  readonly onWalk: (composition: Composition) => void;
  /**
   * Schedules a walk after a change. Default: in a microtask, so that changes of one moment cause
   * one walk.
   */
  readonly later?: (walk: () => void) => void;
  /** Default: the system clock. */
  readonly clock?: Clock;
}

/** A watch on a graph. */
export interface GraphWatch {
  /** The state after the last walk. */
  readonly composition: Composition;
  close(): void;
}

/**
 * Follows a root and all that it refers to, by the `references` of the types of a source. Watches
 * each name while it is needed, and walks again after a change.
 * A name is needed while the newest state or the state in force refers to it (make before break,
 * S-ORD-3).
 */
export function watchGraph(
  source: ResourceSource,
  root: Reference,
  options: GraphWatchOptions,
): GraphWatch {
  return new Watching(source, root, options);
}

interface Slot extends Watcher {
  readonly topic: Topic;
  /** The references as payloads spell them. */
  readonly references: Map<string, KeyedReference>;
  end(): void;
}

class Watching implements GraphWatch, GraphReader {
  composition: Composition = nothing;
  readonly references: KnownReferences;
  readonly limit: number;
  readonly #source: ResourceSource;
  readonly #root: KeyedReference;
  readonly #options: GraphWatchOptions;
  readonly #initialFetch: InitialFetch;
  /** By type and requested name. */
  readonly #slots = new Map<string, Slot>();
  /** By type and the name in the payload. Several of these may share one slot. */
  readonly #known = new Map<string, Slot | XdsError>();
  /** Slots that have changed since the last walk. */
  #woken = new Set<Slot>();
  /** The result of the last walk. */
  #last: Graph | undefined;
  #isDue = false;
  #closed = false;

  constructor(source: ResourceSource, root: Reference, options: GraphWatchOptions) {
    const { maxResources = 100_000, initialFetchMs = 0, clock = systemClock } = options;
    this.#source = source;
    this.#root = placed(root, options.rootAt);
    this.#options = options;
    this.limit = maxResources;
    this.references = knownReferences(source);
    this.#initialFetch = createInitialFetch(initialFetchMs, clock, () => {
      this.#touch();
    });
    this.#touch();
  }

  get revision(): number {
    return this.#source.revision;
  }

  follow(reference: Reference): boolean {
    return this.#options.follow?.(reference) ?? true;
  }

  place(reference: Reference, from: Place | undefined): KeyedReference {
    try {
      return placed(reference, this.#options.placeOf?.(reference, from), from);
    } catch (error) {
      return unplaced(reference, XdsError.from(error));
    }
  }

  look(reference: KeyedReference): Looked {
    if (reference.fault !== undefined) return { error: reference.fault, answered: true };
    const known = this.#known.get(reference.key) ?? this.#open(reference);
    if (known instanceof XdsError) return { error: known, answered: true };
    const looked = lookUp(reference, known.topic);
    const fault =
      looked.resource === undefined
        ? undefined
        : (this.#options.faultOf ?? typeFault)(reference.typeUrl, looked.resource);
    if (fault !== undefined) return { error: fault, answered: true };
    const { stale, interest } = known.topic;
    if (stale === undefined) return looked;
    const restoredAt = (reference.at ?? this.#options).restoredAt?.(reference.typeUrl, interest);
    return { ...looked, restoredAt };
  }

  close(): void {
    this.#closed = true;
    this.#initialFetch.stop();
    for (const slot of this.#slots.values()) slot.end();
    this.#slots.clear();
    this.#known.clear();
  }

  #touch(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    (this.#options.later ?? queueMicrotask)(() => {
      this.#isDue = false;
      if (!this.#closed) this.#walk();
    });
  }

  #walk(): void {
    const changed = [...this.#woken].flatMap(({ references }) => [...references.values()]);
    this.#woken = new Set();
    const graph = patchGraph(this.#last, changed, this) ?? walkGraph(this.#root, this);
    this.#last = graph;
    this.composition = compose(this.composition, this.#root, graph, (gap) =>
      this.#initialFetch.mayLack(gap),
    );
    if (this.composition.graph !== undefined) this.#initialFetch.stop();
    this.#prune(graph);
    this.#options.onWalk(this.composition);
  }

  #open(reference: KeyedReference): Slot | XdsError {
    const opened = this.#slotOf(reference);
    this.#known.set(reference.key, opened);
    if (!(opened instanceof XdsError)) opened.references.set(reference.key, reference);
    return opened;
  }

  #slotOf(reference: KeyedReference): Slot | XdsError {
    try {
      const fault = referenceFault(reference);
      if (fault !== undefined) return fault;
      const { typeUrl, at } = reference;
      const interest = this.#options.interestOf?.(reference) ?? { name: reference.name };
      const id = placed({ typeUrl, name: interest.name }, at).key;
      const slot = this.#slots.get(id) ?? this.#watch(typeUrl, interest, at);
      this.#slots.set(id, slot);
      return slot;
    } catch (error) {
      return XdsError.from(error);
    }
  }

  #watch(typeUrl: string, interest: Interest, at: Place | undefined): Slot {
    const unwanted = (at ?? this.#options).onWanted?.(typeUrl, interest);
    const topic = (at?.source ?? this.#source).topic(typeUrl, interest);
    const slot: Slot = {
      topic,
      references: new Map(),
      wake: () => {
        this.#woken.add(slot);
        this.#options.onWake?.(typeUrl, topic);
        this.#touch();
      },
      end: () => {
        topic.unwatch(slot);
        unwanted?.();
      },
    };
    topic.watch(slot);
    return slot;
  }

  /** Ends the watches of names that neither the newest graph nor the graph in force refers to. */
  #prune(now: Graph): void {
    if (this.#known.size === now.nodes.size + now.gaps.size) return;
    const inForce = this.composition.graph;
    const isNeeded = (key: string): boolean =>
      now.nodes.has(key) || now.gaps.has(key) || inForce?.nodes.has(key) === true;
    const dropped = [...this.#known.keys()].filter((key) => !isNeeded(key));
    if (dropped.length === 0) return;
    for (const key of dropped) this.#known.delete(key);
    const live = new Set(this.#known.values());
    for (const [id, slot] of this.#slots) {
      if (live.has(slot)) continue;
      this.#slots.delete(id);
      slot.end();
    }
  }
}

/**
 * Returns the graph after a change of these names, if their references are the same as before: then
 * only these resources are read. The most frequent changes, those of endpoints, are of this kind.
 * Returns `undefined` if the graph has to be walked.
 */
function patchGraph(
  before: Graph | undefined,
  changed: Iterable<KeyedReference>,
  reader: GraphReader,
): Graph | undefined {
  if (before === undefined || before.fault !== undefined || before.gaps.size > 0) return undefined;
  const nodes = new Map(before.nodes);
  for (const reference of changed) {
    const { key, typeUrl } = reference;
    const node = nodes.get(key);
    if (node === undefined) continue;
    const looked = reader.look(reference);
    const { resource } = looked;
    if (
      resource === undefined ||
      !isSame(reader.references(typeUrl, node.resource), reader.references(typeUrl, resource))
    )
      return undefined;
    nodes.set(key, nodeOf(reference, resource, looked));
  }
  return { revision: reader.revision, nodes, gaps: before.gaps };
}

function isSame(one: readonly KeyedReference[], other: readonly KeyedReference[]): boolean {
  return one.length === other.length && one.every(({ key }, n) => key === other[n]?.key);
}
