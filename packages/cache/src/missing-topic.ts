import type { Entry, Interest } from "@xdstp/core";

import { BaseTopic, type TopicHost } from "./base-topic.ts";
import { StateEntry } from "./state-entry.ts";

/** The topic of a name that this cache can never have: of another authority, of another type, or no name at all. Settled at once. */
export class MissingTopic extends BaseTopic {
  readonly #entry: StateEntry;
  readonly settled = true;
  readonly hash = 0;

  constructor(host: TopicHost, interest: Interest, key: string) {
    super(host, interest, key);
    this.#entry = new StateEntry({ revision: host.state.revision, name: interest.name });
  }

  get head(): number {
    return this.#entry.revision;
  }

  changes(after: number): readonly Entry[] {
    return after < this.head ? this.#entry.alone() : [];
  }

  members(): readonly Entry[] {
    return this.#entry.alone();
  }

  get(): undefined {
    return undefined;
  }

  removed(): readonly Entry[] {
    return [];
  }

  settle(): void {
    // It is.
  }

  protected get movedBy(): undefined {
    return undefined;
  }

  protected sync(): void {
    // Nothing can happen to it.
  }
}
