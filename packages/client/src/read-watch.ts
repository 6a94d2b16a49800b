import { type Clock, type Resource, type Topic, type Watcher, XdsError } from "@xdstp/core";

import type { Hub } from "./hub.ts";
import { createLatest, type Latest } from "./latest.ts";
import type { Unread } from "./taking.ts";
import type { DefinedSnapshot, NameOptions, Snapshot, Watch } from "./watch.ts";

/** The common part of all watches: one reader, which may be slow, and an end. */
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

  /** Ends the subscriptions of the watch. */
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

  /** Opens the watch. Cached resources have been checked before. */
  protected begin(signal: AbortSignal | undefined): void {
    this.hub.open.add(this);
    this.#unfollow = followSignal(signal, (reason) => {
      this.#abort(reason);
    });
    if (!this.#closed) this.wake();
  }

  /** Announces a change. `read` creates the snapshot when the reader takes it. */
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

/** Options of {@link readOnce}. */
export interface ReadOptions<T> {
  readonly timeoutMs: number;
  /** The option `default` of the watch. `undefined`: none. */
  readonly defaultValue: T | undefined;
}

/**
 * Returns the first snapshot with a value. A value that is only restored from the snapshot of the
 * client is returned when a server fails or `timeoutMs` is over; the default, when the error is
 * final or `timeoutMs` is over.
 * Without a default it rejects with the first final error: NOT_FOUND, PERMISSION_DENIED, or
 * INVALID_ARGUMENT for a rejected resource. Rejects with DEADLINE_EXCEEDED after `timeoutMs`
 * milliseconds; the text includes the last transient error, such as an unreachable server. Rejects
 * with CANCELLED if the client is closed.
 */
export async function readOnce<T>(
  watch: Watch<Snapshot<T>>,
  clock: Clock,
  { timeoutMs, defaultValue }: ReadOptions<T>,
): Promise<DefinedSnapshot<T>> {
  let last: XdsError | undefined;
  let fallback: DefinedSnapshot<T> | undefined;
  const state = { late: false };
  const timer = clock.after(timeoutMs, () => {
    state.late = true;
    watch.close();
  });
  try {
    for await (const snapshot of watch) {
      const { value, error, isDefault } = snapshot;
      const isEnd = isDefault === true && error !== undefined && isFinal(error);
      fallback = value === undefined ? undefined : { ...snapshot, value };
      if (fallback !== undefined && (isEnd || isAnswer(snapshot))) return fallback;
      if (value === undefined && error !== undefined && isFinal(error)) throw error;
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
  if (fallback !== undefined) return fallback;
  const error = new XdsError(
    "DEADLINE_EXCEEDED",
    `${JSON.stringify(watch.name)} has not come within ${timeoutMs / 1_000} s${last === undefined ? "" : `: ${last.text}`}`,
    { resource: watch.name, ...(last === undefined ? {} : { cause: last }) },
  );
  if (defaultValue === undefined) throw error;
  return { name: watch.name, value: defaultValue, version: "", error, isDefault: true };
}

/** Returns false for a value that a server may still replace: a default, or one that was restored. */
function isAnswer({ error, isDefault }: Snapshot<unknown>): boolean {
  return isDefault !== true && error?.context.reason !== "restored";
}

/** An unreachable server may come back, so UNAVAILABLE is not final. */
function isFinal({ code }: XdsError): boolean {
  return code === "NOT_FOUND" || code === "PERMISSION_DENIED" || code === "INVALID_ARGUMENT";
}

/** The subscription of a watch, and the check of its resources. */
export interface Watched {
  readonly typeUrl: string;
  readonly name: string;
  readonly options: NameOptions;
  readonly check: (resource: Resource, name: string) => XdsError | undefined;
}

/** The common part of the watches on a name and on a collection: a topic, and a check. */
export abstract class BaseWatch<Update> extends ReadWatch<Update> implements Watcher {
  readonly name: string;
  protected readonly topic: Topic;
  readonly #typeUrl: string;
  readonly #uncheck: () => void;
  /** The state of the topic at its last wake. `head` is -1 before the first wake. */
  #seen = { head: -1, settled: false };

  constructor(hub: Hub, { typeUrl, name, options, check }: Watched) {
    super(hub);
    const interest = hub.interestOf(typeUrl, name, options);
    this.name = interest.name;
    this.#typeUrl = typeUrl;
    this.#uncheck = hub.cache.check(typeUrl, interest, check);
    this.topic = hub.cache.topic(typeUrl, interest);
    this.topic.watch(this);
  }

  /**
   * Returns true if a wake only reports the state of the source: `head` and `settled` are as at the
   * previous wake. Call it exactly once per wake.
   */
  protected isSupply(): boolean {
    const { head, settled } = this.topic;
    const { head: before, settled: wasSettled } = this.#seen;
    this.#seen = { head, settled };
    return head === before && settled === wasSettled;
  }

  /**
   * Returns when a server sent what the watch has, if it is from the snapshot of the client
   * (milliseconds since the epoch). Such a topic is stale.
   */
  protected restoredAt(): number | undefined {
    const { stale, interest } = this.topic;
    return stale && this.hub.restoredAt(this.#typeUrl, interest);
  }

  protected end(): void {
    this.topic.unwatch(this);
    this.#uncheck();
  }
}

/**
 * Calls `onAbort` when a signal aborts, or at once if it already has. Returns a function that
 * removes the listener: a signal may live much longer than its listeners, even after it has
 * aborted.
 */
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
