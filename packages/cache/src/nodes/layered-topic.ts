import type { Entry, Interest, Topic, Watcher, XdsError } from "@xdstp/core";
import { isGlob } from "@xdstp/uri";

import { staleReport } from "../base-topic.ts";
import { readName } from "../read-name.ts";
import { hashWith, hashWithout } from "../content-version.ts";

/** The state that the topics of one key share. */
export interface LayerHost {
  /**
   * Returns the keys of the names of a type that come from the content of the node key, and not
   * from the shared content. undefined: none.
   */
  covered(typeUrl: string): ReadonlyMap<string, string> | undefined;
  /** Returns the topic in the content of the key. undefined: the key has no content. */
  upper(typeUrl: string, interest: Interest): Topic | undefined;
  /** The revision up to which the history of the key is dropped. */
  readonly floor: number;
  opened(topic: LayeredTopic): void;
  closed(topic: LayeredTopic): void;
}

/**
 * A topic as the clients with one key see it: covered names come from the content of the key, all
 * others from the shared content.
 * Until a name is covered it returns the arrays of the shared topic, so that all keys share encoded
 * bytes.
 */
export class LayeredTopic implements Topic, Watcher {
  declare readonly stale?: XdsError;
  declare readonly label?: string;
  readonly interest: Interest;
  readonly #typeUrl: string;
  readonly #host: LayerHost;
  readonly #lower: Topic;
  readonly #isCollection: boolean;
  readonly #key: string;
  readonly #watchers = new Set<Watcher>();
  #report: number | undefined;
  #upper: Topic | undefined;
  #head = 0;
  #wasSettled = false;
  #merged: Merged | undefined;
  #members: Merged | undefined;
  #hash: HashSum | undefined;

  constructor(typeUrl: string, lower: Topic, host: LayerHost) {
    this.#typeUrl = typeUrl;
    this.#lower = lower;
    this.#host = host;
    this.interest = lower.interest;
    this.#isCollection = lower.interest.name === "*" || isGlob(lower.interest.name);
    this.#key = readName(lower.interest.name).key;
  }

  static {
    // These are optional in the contract, so they cannot be declared as accessors here; the
    // accessors are put on the prototype.
    Object.defineProperties(this.prototype, {
      stale: {
        get(this: LayeredTopic) {
          return this.#lower.stale;
        },
      },
      label: {
        get(this: LayeredTopic) {
          return this.#pair() === undefined ? this.#lower.label : undefined;
        },
      },
    });
  }

  /** Returns true if it is built on this shared topic. */
  isOver(lower: Topic): boolean {
    return this.#lower === lower;
  }

  get settled(): boolean {
    const source = this.#source();
    return isPair(source) ? this.#lower.settled : source.settled;
  }

  get head(): number {
    this.#sync();
    return this.#head;
  }

  get hash(): number {
    const source = this.#source();
    if (!isPair(source)) return source.hash;
    const { upper, covered } = source;
    const known = this.#hash;
    if (
      known?.lower === this.#lower.head &&
      known.upper === upper.head &&
      known.size === covered.size
    )
      return known.sum;
    let sum = hashWith(this.#lower.hash, upper.hash);
    for (const name of covered.values())
      sum = hashWithout(sum, this.#lower.get(name)?.resource?.hash ?? 0);
    this.#hash = { lower: this.#lower.head, upper: upper.head, size: covered.size, sum };
    return sum;
  }

  changes(after: number): readonly Entry[] | undefined {
    if (after < this.#host.floor) return undefined;
    const source = this.#source();
    if (!isPair(source)) return source.changes(after);
    const lower = this.#lower.changes(after);
    const upper = source.upper.changes(after);
    return lower === undefined || upper === undefined
      ? undefined
      : (this.#merged = this.#merge(this.#merged, lower, upper, source)).entries;
  }

  members(): readonly Entry[] {
    const source = this.#source();
    if (!isPair(source)) return source.members();
    return (this.#members = this.#merge(
      this.#members,
      this.#lower.members(),
      source.upper.members(),
      source,
    )).entries;
  }

  get(name: string): Entry | undefined {
    return this.#homeOf(name).get(name);
  }

  removed(): readonly Entry[] {
    const source = this.#source();
    if (!isPair(source)) return source.removed();
    const { upper, covered } = source;
    return [
      ...this.#lower.removed().filter((entry) => !isIn(covered, entry)),
      ...upper.removed().filter((entry) => isIn(covered, entry)),
    ];
  }

  gone(name: string): readonly Entry[] {
    return this.#homeOf(name).gone?.(name) ?? [];
  }

  watch(watcher: Watcher): void {
    const isFirst = this.#watchers.size === 0;
    this.#watchers.add(watcher);
    if (!isFirst) return;
    this.#lower.watch(this);
    this.#pair()?.upper.watch(this);
    this.#sync();
    this.#report = staleReport(this.#lower);
    this.#host.opened(this);
  }

  unwatch(watcher: Watcher): void {
    if (!this.#watchers.delete(watcher) || this.#watchers.size > 0) return;
    this.#sync();
    this.#lower.unwatch(this);
    this.#upper?.unwatch(this);
    this.#host.closed(this);
  }

  /**
   * Handles a wake of either topic, or an outage of the shared content. A covered name of the
   * shared content is not an update.
   */
  wake(): void {
    const report = staleReport(this.#lower);
    if (this.#sync() || report !== this.#report) this.#tell();
    this.#report = report;
  }

  /** Called when the content of the key is created, or covers further names. */
  attach(): void {
    this.#pair()?.upper.watch(this);
    this.wake();
  }

  #tell(): void {
    for (const watcher of [...this.#watchers]) {
      try {
        watcher.wake(this);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  /** Updates `head` and `settled`. Returns true if something is visible that was not before. */
  #sync(): boolean {
    const newest = Math.max(this.#lower.head, this.#pair()?.upper.head ?? 0);
    const { settled } = this;
    if (newest === this.#head && settled === this.#wasSettled) return false;
    const isSeen =
      settled !== this.#wasSettled || this.#head === 0 || this.changes(this.#head)?.length !== 0;
    this.#wasSettled = settled;
    if (isSeen) this.#head = Math.max(this.#head, newest);
    return isSeen;
  }

  /** Returns the one topic that has everything, or both halves of a collection. */
  #source(): Topic | Pair {
    const pair = this.#pair();
    if (pair === undefined) return this.#lower;
    if (this.#isCollection) return pair;
    return pair.covered.has(this.#key) ||
      pair.upper.members().some(({ resource }) => resource !== undefined)
      ? pair.upper
      : this.#lower;
  }

  /** Returns both halves if some names of the type come from the content of the key. */
  #pair(): Pair | undefined {
    const covered = this.#host.covered(this.#typeUrl);
    if (covered === undefined || covered.size === 0) return undefined;
    this.#upper ??= this.#host.upper(this.#typeUrl, this.interest);
    return this.#upper === undefined ? undefined : { upper: this.#upper, covered };
  }

  #homeOf(name: string): Topic {
    const source = this.#source();
    if (!isPair(source)) return source;
    return source.covered.has(readName(name).key) ? source.upper : this.#lower;
  }

  #merge(
    known: Merged | undefined,
    lower: readonly Entry[],
    upper: readonly Entry[],
    pair: Pair,
  ): Merged {
    const { covered } = pair;
    if (known?.lower === lower && known.upper === upper && known.size === covered.size)
      return known;
    const named = [
      ...lower.filter((entry) => !isIn(covered, entry)),
      ...upper.filter((entry) => isIn(covered, entry)),
    ].filter(({ name }) => name !== this.interest.name);
    const entries =
      named.length > 0 || this.#hasMember(pair)
        ? named
        : [...upper, ...lower].filter(({ name }) => name === this.interest.name).slice(0, 1);
    return {
      lower,
      upper,
      size: covered.size,
      entries: entries.sort((a, b) => a.revision - b.revision),
    };
  }

  /** Returns true if the collection has a member. Then a glob has no entry of its own. */
  #hasMember({ upper, covered }: Pair): boolean {
    return (
      this.#lower
        .members()
        .some((entry) => entry.resource !== undefined && !isIn(covered, entry)) ||
      upper.members().some(({ resource }) => resource !== undefined)
    );
  }
}

interface Pair {
  readonly upper: Topic;
  readonly covered: ReadonlyMap<string, string>;
}

/** The hash of a merged topic, and what it was computed from. */
interface HashSum {
  readonly lower: number;
  readonly upper: number;
  readonly size: number;
  readonly sum: number;
}

/**
 * The joined entries, kept while both halves are the same arrays: the identity of `entries` is a
 * key for encoded bytes.
 */
interface Merged {
  readonly lower: readonly Entry[];
  readonly upper: readonly Entry[];
  readonly size: number;
  readonly entries: readonly Entry[];
}

function isPair(source: Topic | Pair): source is Pair {
  return "covered" in source;
}

function isIn(covered: ReadonlyMap<string, string>, { name }: Entry): boolean {
  return covered.has(readName(name).key);
}
