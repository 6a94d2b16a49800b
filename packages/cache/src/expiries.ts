import type { Clock, Timer } from "@xdstp/core";

import { MinHeap } from "./min-heap.ts";
import { idOf, type ReadName, typedKey } from "./read-name.ts";
import type { TransactionPlan } from "./transaction-plan.ts";

/** A resource that is removed at a time, unless it is put again before. */
export interface Expiry {
  readonly typeUrl: string;
  readonly name: ReadName;
  readonly text: string;
  readonly due: number;
  /** True if it was put again or removed. */
  over: boolean;
}

/**
 * Removes resources by time (S-TTL-11), with one timer. An expiry that is over stays in the queue
 * until its time, or until the queue has too many of these.
 */
export class Expiries {
  readonly #clock: Clock;
  readonly #onDue: (expired: readonly Expiry[]) => void;
  readonly #byName = new Map<string, Expiry>();
  readonly #queue = new MinHeap<Expiry>((one, other) => one.due < other.due);
  #timer: Timer | undefined;
  #armed = Infinity;
  #closed = false;

  /** @param onDue - Called with all resources that are due, at once */
  constructor(clock: Clock, onDue: (expired: readonly Expiry[]) => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  /**
   * Notes a transaction that was applied: the expiries of its puts begin, and earlier expiries of
   * its names end.
   */
  note({ puts, removals }: TransactionPlan): void {
    if (this.#closed) return;
    for (const {
      put: {
        typeUrl,
        resource: { expireMs },
      },
      name,
      text,
    } of puts) {
      if (this.#byName.size > 0) this.#end(typeUrl, name);
      if (expireMs !== undefined) this.#begin(typeUrl, name, text, expireMs);
    }
    if (this.#byName.size > 0)
      for (const {
        removal: { typeUrl },
        name,
      } of removals)
        this.#end(typeUrl, name);
  }

  /** Starts the time of a cached resource again; without `expireMs`, ends it (C-TTL-3). */
  refresh(typeUrl: string, name: ReadName, text: string, expireMs: number | undefined): void {
    this.#end(typeUrl, name);
    if (expireMs !== undefined && !this.#closed) this.#begin(typeUrl, name, text, expireMs);
  }

  /** Returns the milliseconds until a name is removed. undefined: it is not removed by time. */
  left(typeUrl: string, name: Pick<ReadName, "key" | "variant">): number | undefined {
    const expiry = this.#byName.get(typedKey(typeUrl, idOf(name)));
    return expiry && Math.max(1, expiry.due - this.#clock.now());
  }

  /**
   * The number of expiries in the queue. It is never much greater than the number of resources that
   * expire, however often these are put again.
   */
  get size(): number {
    return this.#queue.size;
  }

  /** The number of steps of work, for tests. */
  get work(): number {
    return this.#queue.work;
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    this.#byName.clear();
    this.#queue.clear();
  }

  #begin(typeUrl: string, name: ReadName, text: string, expireMs: number): void {
    const expiry: Expiry = { typeUrl, name, text, due: this.#clock.now() + expireMs, over: false };
    this.#byName.set(typedKey(typeUrl, idOf(name)), expiry);
    this.#queue.push(expiry);
    if (this.#queue.size > 2 * this.#byName.size + 1_000) this.#queue.keep(({ over }) => !over);
    this.#armFor(expiry.due);
  }

  #end(typeUrl: string, name: ReadName): void {
    const key = typedKey(typeUrl, idOf(name));
    const expiry = this.#byName.get(key);
    if (expiry === undefined) return;
    expiry.over = true;
    this.#byName.delete(key);
  }

  #armFor(due: number): void {
    if (due >= this.#armed) return;
    this.#timer?.cancel();
    this.#armed = due;
    this.#timer = this.#clock.after(Math.max(0, due - this.#clock.now()), () => {
      this.#run();
    });
  }

  #run(): void {
    this.#armed = Infinity;
    const expired = this.#takeDue(this.#clock.now());
    for (const { typeUrl, name } of expired) this.#end(typeUrl, name);
    this.#armFor(this.#queue.first?.due ?? Infinity);
    if (expired.length > 0) this.#onDue(expired);
  }

  /** Removes the expiries that are over or due from the queue, and returns those that are due. */
  #takeDue(now: number): readonly Expiry[] {
    const expired: Expiry[] = [];
    for (
      let next = this.#queue.first;
      next !== undefined && (next.over || next.due <= now);
      next = this.#queue.first
    ) {
      this.#queue.pop();
      if (!next.over) expired.push(next);
    }
    return expired;
  }
}
