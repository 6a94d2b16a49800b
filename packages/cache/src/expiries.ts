import type { Clock, Timer } from "@xdstp/core";

import type { ReadName } from "./read-name.ts";
import type { TransactionPlan } from "./transaction-plan.ts";
import { idOf } from "./variants/variant.ts";

/** A resource that is removed at a time unless it is put again before. */
export interface Expiry {
  readonly typeUrl: string;
  readonly name: ReadName;
  readonly text: string;
  readonly due: number;
  /** It was put again, or removed. */
  over: boolean;
}

/** What the cache removes by itself (S-TTL-11): one timer, and one queue for each duration, which is in order of time. */
export class Expiries {
  readonly #clock: Clock;
  readonly #onDue: (expired: readonly Expiry[]) => void;
  readonly #byName = new Map<string, Expiry>();
  readonly #queues = new Map<number, Expiry[]>();
  #timer: Timer | undefined;
  #armed = Infinity;
  /** How many are in queues, those that are over too. */
  #queued = 0;

  /** `onDue` is told of those whose time is over, all at once. */
  constructor(clock: Clock, onDue: (expired: readonly Expiry[]) => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  /** A transaction has been applied: what it put expires as it says, or not any more. */
  note({ puts, removals }: TransactionPlan): void {
    for (const { put: { typeUrl, resource: { expireMs } }, name, text } of puts) {
      if (this.#byName.size > 0) this.#end(typeUrl, name);
      if (expireMs !== undefined) this.#begin({ typeUrl, name, text, due: this.#clock.now() + expireMs, over: false }, expireMs);
    }
    if (this.#byName.size > 0) for (const { removal: { typeUrl }, name } of removals) this.#end(typeUrl, name);
    if (this.#byName.size > 0) this.#arm();
  }

  /** The time of one that is held begins anew, or is over (C-TTL-3). */
  refresh(typeUrl: string, name: ReadName, text: string, expireMs: number | undefined): void {
    this.#end(typeUrl, name);
    if (expireMs === undefined) return;
    const due = this.#clock.now() + expireMs;
    this.#begin({ typeUrl, name, text, due, over: false }, expireMs);
    this.#armFor(due); // without a look at each queue: a server may give each name another time
  }

  /** How many are kept: never many more than there are that expire, however often these are put again. */
  get size(): number {
    return this.#queued;
  }

  close(): void {
    this.#timer?.cancel();
    this.#byName.clear();
    this.#queues.clear();
  }

  #begin(expiry: Expiry, ms: number): void {
    this.#byName.set(keyOf(expiry.typeUrl, expiry.name), expiry);
    const queue = this.#queues.get(ms);
    if (queue === undefined) this.#queues.set(ms, [expiry]);
    else queue.push(expiry);
    if (++this.#queued > 2 * this.#byName.size + 1_000) this.#tidy();
  }

  /** Lets go of what is over. */
  #tidy(): void {
    this.#queued = 0;
    for (const [ms, queue] of this.#queues) {
      const left = queue.filter(({ over }) => !over);
      this.#queued += left.length;
      if (left.length === 0) this.#queues.delete(ms);
      else this.#queues.set(ms, left);
    }
  }

  #end(typeUrl: string, name: ReadName): void {
    const key = keyOf(typeUrl, name);
    const expiry = this.#byName.get(key);
    if (expiry === undefined) return;
    expiry.over = true;
    this.#byName.delete(key);
  }

  #arm(): void {
    this.#armFor(this.#queues.values().reduce((least, [oldest]) => Math.min(least, oldest?.due ?? Infinity), Infinity));
  }

  #armFor(due: number): void {
    if (due >= this.#armed) return;
    this.#timer?.cancel();
    this.#armed = due;
    this.#timer = this.#clock.after(Math.max(0, due - this.#clock.now()), () => { this.#run(); });
  }

  #run(): void {
    this.#armed = Infinity;
    const expired: Expiry[] = [];
    for (const [ms, queue] of this.#queues) {
      this.#queued -= queue.length;
      for (const expiry of takeDue(queue, this.#clock.now())) expired.push(expiry); // may be more than a call has arguments
      this.#queued += queue.length;
      if (queue.length === 0) this.#queues.delete(ms);
    }
    for (const { typeUrl, name } of expired) this.#end(typeUrl, name);
    if (expired.length > 0) this.#onDue(expired);
    this.#arm();
  }
}

/** Takes out what is over or due, and gives what is due. */
function takeDue(queue: Expiry[], now: number): readonly Expiry[] {
  const left = queue.findIndex(({ over, due }) => !over && due > now);
  return queue.splice(0, left < 0 ? queue.length : left).filter(({ over }) => !over);
}

function keyOf(typeUrl: string, name: ReadName): string {
  return `${typeUrl} ${idOf(name)}`;
}
