import type { Resource, Topic, Watcher, XdsError } from "@xdstp/core";

import { followSignal } from "./follow-signal.ts";
import type { Hub } from "./hub.ts";
import { createLatest, type Latest } from "./latest.ts";
import type { NameOptions } from "./name-options.ts";
import type { Watch } from "./watch.ts";

/** What is watched, and how what comes for it is checked. */
export interface Watched {
  readonly typeUrl: string;
  readonly name: string;
  readonly options: NameOptions;
  readonly check: (resource: Resource, name: string) => XdsError | undefined;
}

/** What watches of a name and of a collection have in common: a topic, a check, one reader who may be slow, and the end of all three. */
export abstract class BaseWatch<Update> implements Watch<Update>, Watcher {
  readonly name: string;
  protected readonly hub: Hub;
  protected readonly topic: Topic;
  readonly #latest: Latest<Update>;
  readonly #uncheck: () => void;
  #unfollow: () => void = () => undefined;
  #taken: (() => void) | undefined;
  #closed = false;

  constructor(hub: Hub, { typeUrl, name, options, check }: Watched) {
    const interest = hub.interestOf(typeUrl, name, options);
    this.name = interest.name;
    this.hub = hub;
    this.#latest = createLatest<Update>(() => { this.#onTaken(); }, () => { this.close(); });
    this.#uncheck = hub.cache.check(typeUrl, interest, check);
    this.topic = hub.cache.topic(typeUrl, interest);
    this.topic.watch(this);
  }

  /** Looks whether there is news, and if so announces it. */
  abstract wake(): void;

  [Symbol.asyncIterator](): AsyncIterator<Update, undefined> {
    return this.#latest;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.topic.unwatch(this);
    this.#uncheck();
    this.#unfollow();
    this.hub.open.delete(this);
    this.#onTaken();
    this.#latest.end();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.close();
    return Promise.resolve();
  }

  /** What was held before has been judged: from now on the watch is open. */
  protected begin(signal: AbortSignal | undefined): void {
    this.hub.open.add(this);
    this.#unfollow = followSignal(signal, (reason) => { this.#abort(reason); });
    if (!this.#closed) this.wake();
  }

  /** There is news; it is made when it is read. */
  protected announce(read: () => Update | undefined): void {
    if (this.#latest.started) this.#taken ??= this.hub.taking.begin();
    this.#latest.mark(read);
  }

  #abort(reason: unknown): void {
    this.#latest.fail(reason);
    this.close();
  }

  #onTaken(): void {
    this.#taken?.();
    this.#taken = undefined;
  }
}
