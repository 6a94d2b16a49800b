import type { Resource, Topic, Watcher, XdsError } from "@xdstp/core";

import type { Hub } from "./hub.ts";
import type { NameOptions } from "./name-options.ts";
import { ReadWatch } from "./read-watch.ts";

/** What is watched, and how what comes for it is checked. */
export interface Watched {
  readonly typeUrl: string;
  readonly name: string;
  readonly options: NameOptions;
  readonly check: (resource: Resource, name: string) => XdsError | undefined;
}

/** What watches of a name and of a collection have in common: a topic, and a check. */
export abstract class BaseWatch<Update> extends ReadWatch<Update> implements Watcher {
  readonly name: string;
  protected readonly topic: Topic;
  readonly #uncheck: () => void;
  /** The state of the topic when it woke its reader last. `head` is -1 before the first time. */
  #seen = { head: -1, settled: false };

  constructor(hub: Hub, { typeUrl, name, options, check }: Watched) {
    super(hub);
    const interest = hub.interestOf(typeUrl, name, options);
    this.name = interest.name;
    this.#uncheck = hub.cache.check(typeUrl, interest, check);
    this.topic = hub.cache.topic(typeUrl, interest);
    this.topic.watch(this);
  }

  /** Whether a wake is of the supply: nothing else of the topic is different from the wake before. To be called once in each. */
  protected isSupply(): boolean {
    const { head, settled } = this.topic;
    const { head: before, settled: wasSettled } = this.#seen;
    this.#seen = { head, settled };
    return head === before && settled === wasSettled;
  }

  protected end(): void {
    this.topic.unwatch(this);
    this.#uncheck();
  }
}
