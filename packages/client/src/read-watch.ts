import { followSignal } from "./follow-signal.ts";
import type { Hub } from "./hub.ts";
import { createLatest, type Latest } from "./latest.ts";
import type { Unread } from "./taking.ts";
import type { Watch } from "./watch.ts";

/** What all watches have in common: one reader who may be slow, and an end. */
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
