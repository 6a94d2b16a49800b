import type { Clock, Timer } from "@xdstp/core";

import type { SnapshotRecord } from "./record.ts";

/** Least time between two looks at all records, in milliseconds. */
const LOOK_MS = 1_000;

/** Calls back for records that have expired, by the monotonic clock: after a step of the wall clock back a restart would serve them again. Those that end within one second come together. */
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

  /** Takes over when a record expires, which may be never. */
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

  /** Calls back for what has ended by now. */
  look(): void {
    const now = this.#clock.now();
    const ended = [...this.#ends].filter(([, end]) => end <= now);
    for (const [record] of ended) this.#ends.delete(record);
    const next = this.#ends.values().reduce((least, end) => Math.min(least, end), Infinity);
    this.#wait(next === Infinity ? Infinity : Math.max(next, now + LOOK_MS));
    for (const [record] of ended) this.#onEnd(record);
  }

  /** Calls back no more. */
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
