import type { Entry, Interest, Topic, Watcher, XdsError } from "@xdstp/core";

/** What upstream was asked again and has not said yet. One for all who wait for the same. */
export interface Wait {
  over: boolean;
  readonly topics: Set<FreshTopic>;
}

/** An interest as a later subscriber sees it: its cached content was for others, so nothing is known before upstream has sent it again (B-RELAY-11). */
export class FreshTopic implements Topic, Watcher {
  declare readonly stale?: XdsError;
  declare readonly label?: string;
  readonly #topic: Topic;
  readonly #askAnew: () => Wait;
  readonly #watchers = new Set<Watcher>();
  #wait: Wait | undefined;

  /** @param askAnew - Called when it is watched */
  constructor(topic: Topic, askAnew: () => Wait) {
    this.#topic = topic;
    this.#askAnew = askAnew;
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
      this.#wait ??= this.#askAnew();
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
