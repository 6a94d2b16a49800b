import { type Clock, type Resource, type Topic, type Watcher, XdsError } from "@xdstp/core";

import type { Hub } from "./hub.ts";
import { createLatest, type Latest } from "./latest.ts";
import type { Unread } from "./taking.ts";
import type { NameOptions, Snapshot, Watch } from "./watch.ts";

/** What all watches have in common: one reader, which may be slow, and an end. */
export abstract class ReadWatch<Update> implements Watch<Update> {
  abstract readonly name: string;
  protected readonly hub: Hub;
  readonly #latest: Latest<Update>;
  #unfollow: () => void = () => undefined;
  #unread: Unread | undefined;
  #closed = false;

  constructor(hub: Hub) {
    this.hub = hub;
    this.#latest = createLatest<Update>(
      () => {
        this.#onTaken();
      },
      () => {
        this.close();
      },
    );
  }

  /** Checks for a change, and announces it. */
  abstract wake(): void;

  /** Lets go of what is watched. */
  protected abstract end(): void;

  [Symbol.asyncIterator](): AsyncIterator<Update, undefined> {
    return this.#latest;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.end();
    this.#unfollow();
    this.hub.open.delete(this);
    this.#onTaken();
    this.#latest.end();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.close();
    return Promise.resolve();
  }

  /** What was cached before has been checked: from now on the watch is open. */
  protected begin(signal: AbortSignal | undefined): void {
    this.hub.open.add(this);
    this.#unfollow = followSignal(signal, (reason) => {
      this.#abort(reason);
    });
    if (!this.#closed) this.wake();
  }

  /** There is a change; the snapshot is made when it is read. */
  protected announce(read: () => Update | undefined): void {
    this.#unread?.renew();
    if (this.#latest.started) this.#unread ??= this.hub.taking.begin();
    this.#latest.mark(read);
  }

  #abort(reason: unknown): void {
    this.#latest.fail(reason);
    this.close();
  }

  #onTaken(): void {
    this.#unread?.consumed();
    this.#unread = undefined;
  }
}

/**
 * The first snapshot with a value, or the first error that will not pass by itself.
 * Rejects with that error (it does not exist, may not be seen, was rejected), or DEADLINE_EXCEEDED, whose text has the last transient one (the server cannot be reached).
 */
export async function readOnce<T>(
  watch: Watch<Snapshot<T>>,
  clock: Clock,
  timeoutMs: number,
): Promise<Snapshot<T> & { readonly value: T }> {
  let last: XdsError | undefined;
  const state = { late: false };
  const timer = clock.after(timeoutMs, () => {
    state.late = true;
    watch.close();
  });
  try {
    for await (const snapshot of watch) {
      const { value, error } = snapshot;
      if (value !== undefined) return { ...snapshot, value };
      if (error !== undefined && isFinal(error)) throw error;
      last = error;
    }
  } finally {
    timer.cancel();
    watch.close();
  }
  if (!state.late)
    throw new XdsError("CANCELLED", `${JSON.stringify(watch.name)}: the client was closed`, {
      resource: watch.name,
    });
  throw new XdsError(
    "DEADLINE_EXCEEDED",
    `${JSON.stringify(watch.name)} has not come within ${timeoutMs / 1_000} s${last === undefined ? "" : `: ${last.text}`}`,
    { resource: watch.name, ...(last === undefined ? {} : { cause: last }) },
  );
}

/** A server that is away may come back; what does not exist, or may not be seen, is so. */
function isFinal({ code }: XdsError): boolean {
  return code === "NOT_FOUND" || code === "PERMISSION_DENIED" || code === "INVALID_ARGUMENT";
}

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

/** Calls back when a signal aborts, at once if it has. Returns what ends that: a signal may live much longer than who follows it, also after it has aborted. */
export function followSignal(
  signal: AbortSignal | undefined,
  onAbort: (reason: unknown) => void,
): () => void {
  const abort = (): void => {
    onAbort(signal?.reason);
  };
  if (signal?.aborted === true) abort();
  else signal?.addEventListener("abort", abort, { once: true });
  return () => {
    signal?.removeEventListener("abort", abort);
  };
}
