import type { Clock, Timer } from "@xdstp/core";
import type { Drainable, Scheduler } from "./scheduler.ts";

/**
 * The outcome of a heartbeat. `none`: the client no longer has a resource with this TTL. `later`:
 * the wire accepts no more now.
 */
export type BeatOutcome = "sent" | "none" | "later";

/** A type on one stream that has sent resources with a TTL. */
export interface Beating {
  /**
   * Sends one heartbeat for all resources with this TTL, in milliseconds, that the client has
   * (S-TTL-2).
   */
  beat(ttlMs: number): BeatOutcome;
}

/** Sends heartbeats for resources with a TTL. */
export interface Heartbeats {
  /**
   * Calls `beat` every third of the TTL from now on, until it returns `none`. A further call with
   * the same arguments is cheap and has no effect.
   */
  add(ttlMs: number, beating: Beating): void;
  /** Stops the heartbeats of a type when its stream is over. */
  drop(beating: Beating): void;
}

/** The greatest number of heartbeats per turn of the scheduler. */
const SLICE = 64;
/** The shortest time between two passes, in milliseconds. A shorter TTL cannot be kept alive. */
const SHORTEST = 20;

/**
 * Creates the heartbeats of a server, with one timer for all streams and resources, and one pass
 * per TTL. Streams in the same state are served one after another, so they share a frame.
 */
export function createHeartbeats(clock: Clock, scheduler: Scheduler): Heartbeats {
  const classes = new Map<number, TtlClass>();
  let armed: { readonly due: number; readonly timer: Timer } | undefined;

  const arm = (): void => {
    const due = classes.values().reduce((least, one) => Math.min(least, one.due), Infinity);
    if (due >= (armed?.due ?? Infinity)) return;
    armed?.timer.cancel();
    armed = { due, timer: clock.after(Math.max(0, due - clock.now()), run) };
  };
  const run = (): void => {
    const now = clock.now();
    armed = undefined;
    for (const one of classes.values()) {
      if (one.isEmpty) classes.delete(one.ttlMs);
      else if (one.due <= now) one.start(now);
    }
    arm();
  };
  return {
    add(ttlMs, beating) {
      let one = classes.get(ttlMs);
      if (one === undefined) classes.set(ttlMs, (one = new TtlClass(ttlMs, clock, scheduler, arm)));
      one.members.add(beating);
      arm();
    },
    drop(beating) {
      for (const { members } of classes.values()) members.delete(beating);
    },
  };
}

/** Everything that has one TTL. */
class TtlClass implements Drainable {
  readonly ttlMs: number;
  readonly members = new Set<Beating>();
  queued = false;
  /** When the next pass begins, by `Clock.now()`. */
  due: number;
  readonly #clock: Clock;
  readonly #scheduler: Scheduler;
  readonly #interval: number;
  readonly #onLate: () => void;
  #waiting: Beating[] = [];
  #late: Beating[] = [];
  /**
   * When the next pass for all members begins. A pass before that is only for members whose wire
   * was full.
   */
  #next: number;

  constructor(ttlMs: number, clock: Clock, scheduler: Scheduler, onLate: () => void) {
    this.ttlMs = ttlMs;
    this.#clock = clock;
    this.#scheduler = scheduler;
    this.#onLate = onLate;
    this.#interval = Math.max(SHORTEST, Math.floor(ttlMs / 3));
    this.due = this.#next = clock.now() + this.#interval;
  }

  get isEmpty(): boolean {
    return this.members.size === 0;
  }

  start(now: number): void {
    const isWhole = now >= this.#next;
    this.#waiting = isWhole ? [...this.members] : this.#late;
    this.#late = [];
    if (isWhole) this.#next = Math.max(this.#next + this.#interval, now + SHORTEST);
    this.due = this.#next;
    this.#scheduler.add(this);
  }

  drain(): void {
    for (const beating of this.#waiting.splice(0, SLICE))
      if (this.members.has(beating)) this.#beat(beating);
    if (this.#waiting.length > 0) this.#scheduler.add(this);
    else if (this.#late.length > 0) this.#retry();
  }

  #beat(beating: Beating): void {
    const outcome = beating.beat(this.ttlMs);
    if (outcome === "none") this.members.delete(beating);
    if (outcome === "later") this.#late.push(beating);
  }

  #retry(): void {
    this.due = Math.min(this.#next, this.#clock.now() + Math.ceil(this.#interval / 4));
    this.#onLate();
  }
}
