import type { Clock, Timer } from "@xdstp/core";

import type { SnapshotRecord } from "./record.ts";

/** The minimum time between two checks of all records, in milliseconds. */
const LOOK_MS = 1_000;

/**
 * Calls back for records that have expired. It uses the monotonic clock, so a step of the wall
 * clock does not delay this; a restart would then serve an expired record again. Records that
 * expire within one second are reported together.
 */
export class Deadlines {
  readonly #clock: Clock;
  readonly #onEnd: (record: SnapshotRecord) => void;
  readonly #ends = new Map<SnapshotRecord, number>();
  #timer: Timer | undefined;
  #timerAt = Infinity;
  #stopped = false;

  constructor(clock: Clock, onEnd: (record: SnapshotRecord) => void) {
    this.#clock = clock;
    this.#onEnd = onEnd;
  }

  /** Records when a record expires, or that it does not. */
  note(record: SnapshotRecord): void {
    const { expiresAt } = record;
    if (expiresAt === undefined || this.#stopped) {
      this.#ends.delete(record);
      return;
    }
    const end = this.#clock.now() + Math.max(0, expiresAt - this.#clock.wallTime());
    this.#ends.set(record, end);
    if (end < this.#timerAt) this.#wait(end);
  }

  forget(record: SnapshotRecord): void {
    this.#ends.delete(record);
  }

  /** Calls back for the records that have expired. */
  look(): void {
    const now = this.#clock.now();
    const ended = [...this.#ends].filter(([, end]) => end <= now);
    for (const [record] of ended) this.#ends.delete(record);
    const next = this.#ends.values().reduce((least, end) => Math.min(least, end), Infinity);
    this.#wait(next === Infinity ? Infinity : Math.max(next, now + LOOK_MS));
    for (const [record] of ended) this.#onEnd(record);
  }

  /** Stops all callbacks. */
  stop(): void {
    this.#stopped = true;
    this.#ends.clear();
    this.#wait(Infinity);
  }

  #wait(until: number): void {
    this.#timer?.cancel();
    this.#timerAt = until;
    this.#timer =
      until === Infinity
        ? undefined
        : this.#clock.after(Math.max(0, until - this.#clock.now()), () => {
            this.look();
          });
  }
}
