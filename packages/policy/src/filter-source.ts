import {
  forwardSource,
  InterestMap,
  systemClock,
  XdsError,
  type Clock,
  type Interest,
  type ResourceSource,
  type Topic,
} from "@xdstp/core";
import { nameKey } from "@xdstp/uri";

import { FilteredTopic, type FilterHost } from "./filtered-topic.ts";
import type { Policy } from "./policy.ts";
import type { LogWindow } from "./visible-log.ts";

/** The part of a source that a policy allows. */
export interface FilteredSource extends ResourceSource {
  /** Returns true if a name, in any spelling, is allowed now. */
  allows(typeUrl: string, name: string): boolean;
  /**
   * Calls the listener after each change of the policy, once it is in force. Returns a function
   * that removes the listener. A reader that keeps entries to send them later has to check them
   * again (`ServerStream.thaw`).
   */
  onChange(listener: () => void): () => void;
  /** Stops listening to the policy. */
  close(): void;
}

/** The options of {@link filterSource}. */
export interface FilterOptions {
  /** The clock of the removal window. Default: the clock of the machine. */
  readonly clock?: Clock;
  /**
   * Called with an error that `allows` has thrown; once until the policy changes. Default: errors
   * are not reported.
   */
  readonly onFault?: (error: unknown) => void;
}

/** The time and number of removals that are kept, as in the cache (S-RECON-10). */
const REMOVALS_MS = 600_000;
const REMOVALS_COUNT = 100_000;

/**
 * Creates a source with only what a policy allows: forbidden names do not exist, globs and `*` have
 * only allowed members, and versions are computed from what is visible (S-LIM-8).
 *
 * If nothing is hidden in an array, it is the array of the cache; otherwise it is the same for all
 * readers of this filter. One filter serves all streams with the key of the policy.
 * When the policy changes, names that it forbids now are removed and names that it allows now are
 * added, at a revision between that of the source and the next one.
 */
export function filterSource(
  source: ResourceSource,
  policy: Policy,
  options: FilterOptions = {},
): FilteredSource {
  const filter = new Filter(source, policy, options);
  const forwarded = forwardSource(source, {
    get revision() {
      return filter.revision;
    },
    topic: (typeUrl, interest) => filter.topic(typeUrl, interest),
    asOf: (typeUrl, name, revision) =>
      filter.allows(typeUrl, name) ? source.asOf?.(typeUrl, name, revision) : undefined,
  });
  return Object.assign(forwarded, {
    allows: (typeUrl: string, name: string) => filter.allows(typeUrl, name),
    onChange: (listener: () => void) => filter.onChange(listener),
    close: () => {
      filter.close();
    },
  });
}

class Filter implements FilterHost {
  readonly window: LogWindow;
  epoch = 0;
  readonly #source: ResourceSource;
  readonly #policy: Policy;
  readonly #onFault: (error: unknown) => void;
  readonly #topics = new WeakMap<Topic, FilteredTopic>();
  readonly #watched = new Set<FilteredTopic>();
  /**
   * Watched topics of forbidden names. The topic of the source is not watched, so it does not lead
   * to them.
   */
  readonly #barred = new InterestMap<FilteredTopic>();
  readonly #listeners = new Set<() => void>();
  readonly #unwatch: (() => void) | undefined;
  /** The revision of the newest change of the policy. */
  #changed = 0;
  #hasThrown = false;

  constructor(
    source: ResourceSource,
    policy: Policy,
    { clock = systemClock, onFault = () => undefined }: FilterOptions,
  ) {
    this.#source = source;
    this.#policy = policy;
    this.#onFault = onFault;
    this.window = { now: () => clock.now(), ms: REMOVALS_MS, count: REMOVALS_COUNT };
    this.#unwatch = policy.watch?.(() => {
      this.#reconsider();
    });
  }

  get revision(): number {
    return Math.max(this.#source.revision, this.#changed);
  }

  topic(typeUrl: string, interest: Interest): Topic {
    const barred = this.#barred.get(typeUrl, interest, interest.name);
    if (barred !== undefined) return barred;
    const inner = this.#source.topic(typeUrl, interest);
    const topic = this.#topics.get(inner) ?? new FilteredTopic(typeUrl, inner, this);
    this.#topics.set(inner, topic);
    return topic;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  close(): void {
    this.#unwatch?.();
  }

  allows(typeUrl: string, name: string): boolean {
    return allowedBy(this.#policy, typeUrl, name, (error) => {
      if (!this.#hasThrown) this.#onFault(error);
      this.#hasThrown = true;
    });
  }

  denial(typeUrl: string, name: string): XdsError | undefined {
    return this.#policy.forbidden === "denied"
      ? new XdsError("PERMISSION_DENIED", "not allowed", { typeUrl, resource: name })
      : undefined;
  }

  opened(topic: FilteredTopic): void {
    this.#watched.add(topic);
    this.#file(topic);
  }

  closed(topic: FilteredTopic): void {
    this.#watched.delete(topic);
    this.#topics.delete(topic.behind);
    this.#unfile(topic);
  }

  #file(topic: FilteredTopic): void {
    const { typeUrl, interest } = topic;
    if (topic.barred) this.#barred.set(typeUrl, interest, interest.name, topic);
    else this.#unfile(topic);
  }

  #unfile(topic: FilteredTopic): void {
    const { typeUrl, interest } = topic;
    if (this.#barred.get(typeUrl, interest, interest.name) === topic)
      this.#barred.delete(typeUrl, interest, interest.name);
  }

  /**
   * Applies a change of the policy: all topics change at one revision, and their watchers are
   * notified after that.
   */
  #reconsider(): void {
    this.epoch++;
    this.#hasThrown = false;
    const revision = soonAfter(this.revision);
    for (const topic of this.#watched) {
      topic.reconsider(revision);
      this.#file(topic);
    }
    const updates = [...this.#watched].filter((topic) => topic.hasUpdates);
    if (updates.length > 0) this.#changed = revision;
    for (const topic of updates) topic.tell();
    // Called even if nothing visible has changed: an entry that was read to be sent later may have
    // been removed since, and be forbidden now.
    for (const listener of this.#listeners) listener();
  }
}

/**
 * Returns the next greater number that can be represented. Revisions of sources are whole numbers,
 * so there is room for billions of policy changes before the next revision.
 */
function soonAfter(revision: number): number {
  return revision + Math.max(revision, 1) * Number.EPSILON;
}

/**
 * Returns true if a policy allows a name, which may have any spelling. Only `true` allows. An error
 * is reported and denies the name, as does every other result, for instance a promise.
 */
function allowedBy(
  policy: Policy,
  typeUrl: string,
  name: string,
  onFault: (error: unknown) => void,
): boolean {
  try {
    return (policy.allows(typeUrl, nameKey(name)) as unknown) === true;
  } catch (error) {
    onFault(error);
    return false;
  }
}
