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
    if (expireMs !== undefined) this.#begin({ typeUrl, name, text, due: this.#clock.now() + expireMs, over: false }, expireMs);
    this.#arm();
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
  }

  #end(typeUrl: string, name: ReadName): void {
    const key = keyOf(typeUrl, name);
    const expiry = this.#byName.get(key);
    if (expiry === undefined) return;
    expiry.over = true;
    this.#byName.delete(key);
  }

  #arm(): void {
    const due = this.#queues.values().reduce((least, [oldest]) => Math.min(least, oldest?.due ?? Infinity), Infinity);
    if (due >= this.#armed) return;
    this.#timer?.cancel();
    this.#armed = due;
    this.#timer = this.#clock.after(Math.max(0, due - this.#clock.now()), () => { this.#run(); });
  }

  #run(): void {
    this.#armed = Infinity;
    const expired: Expiry[] = [];
    for (const [ms, queue] of this.#queues) {
      expired.push(...takeDue(queue, this.#clock.now()));
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
