import type { Clock, Message, Status, Timer } from "@xdstp/core";

import type { SeededRandom } from "./seeded-random.ts";

/** A message, or the end of the call after all messages. */
export type Cargo =
  | { readonly bytes: Uint8Array; readonly status?: undefined }
  | { readonly bytes?: undefined; readonly status: Status };

/** The delays of a pipe. */
export interface PipeOptions {
  readonly clock: Clock;
  readonly random: SeededRandom;
  /** The minimum and maximum, in milliseconds. */
  readonly delayMs: readonly [least: number, most: number];
  /** The number of messages on their way from which the sender has to wait. */
  readonly window: number;
}

/** The sender and the receiver of a pipe. */
export interface PipeEnds {
  onArrived(cargo: Cargo): void;
  /** Called when the sender may continue. */
  onDrained(): void;
}

/** One direction of a connection: messages arrive in order, each after a delay of its own. */
export interface Pipe {
  /** Sends a message. Returns false if the sender has to wait for `onDrained`. */
  send(message: Message): boolean;
  finish(status: Status): void;
  /** Lets nothing arrive before this time, in milliseconds since the epoch. */
  holdUntil(time: number): void;
  /** Makes each message need this number of milliseconds more. */
  slow(ms: number): void;
  /** Sets whether the receiver reads. */
  read(on: boolean): void;
  /** Loses all messages on their way, and all that are sent from now on. */
  lose(): void;
  /** The number of messages on their way. */
  readonly waiting: number;
  /** True from a {@link Pipe.send} that returned false until `onDrained`. */
  readonly isPaused: boolean;
}

/** Creates an empty pipe, on which nothing arrives before {@link Pipe.read}. */
export function createPipe(options: PipeOptions, ends: PipeEnds): Pipe {
  return new OneWay(options, ends);
}

/**
 * open  --as many messages on their way as the window takes--> full
 * full  --half of them have arrived--> draining
 * draining --the sender is notified--> open, or full again before that
 */
type Window = "open" | "full" | "draining";

class OneWay implements Pipe {
  readonly #options: PipeOptions;
  readonly #ends: PipeEnds;
  #queue: { readonly cargo: Cargo; readonly at: number }[] = [];
  #timer: Timer | undefined;
  #lastAt = 0;
  #heldUntil = 0;
  #slowMs = 0;
  #reads = false;
  #isLost = false;
  #window: Window = "open";

  constructor(options: PipeOptions, ends: PipeEnds) {
    this.#options = options;
    this.#ends = ends;
  }

  get waiting(): number {
    return this.#queue.length;
  }

  get isPaused(): boolean {
    return this.#window !== "open";
  }

  send({ bytes }: Message): boolean {
    this.#add({ bytes });
    if (this.#queue.length >= this.#options.window) this.#window = "full";
    return this.#window !== "full";
  }

  finish(status: Status): void {
    this.#add({ status });
  }

  holdUntil(time: number): void {
    this.#heldUntil = time;
    this.#arm();
  }

  slow(ms: number): void {
    this.#slowMs = ms;
  }

  read(on: boolean): void {
    this.#reads = on;
    this.#arm();
  }

  lose(): void {
    this.#isLost = true;
    this.#queue = [];
    this.#arm();
  }

  #add(cargo: Cargo): void {
    if (this.#isLost) return;
    const {
      clock,
      random,
      delayMs: [least, most],
    } = this.#options;
    this.#lastAt = Math.max(this.#lastAt, clock.now() + random.between(least, most)) + this.#slowMs;
    this.#queue.push({ cargo, at: this.#lastAt });
    if (this.#queue.length === 1) this.#arm();
  }

  #arm(): void {
    this.#timer?.cancel();
    const next = this.#queue[0];
    const { clock } = this.#options;
    this.#timer =
      next === undefined || !this.#reads
        ? undefined
        : clock.after(Math.max(next.at, this.#heldUntil) - clock.now(), () => {
            this.#arrive();
          });
  }

  /** Passes on one message at a time, since its handler may change everything. */
  #arrive(): void {
    const next = this.#queue.shift();
    this.#timer = undefined;
    if (next === undefined) return;
    this.#arm();
    if (this.#window === "full" && this.#queue.length <= this.#options.window / 2) this.#drain();
    this.#ends.onArrived(next.cargo);
  }

  /** The sender is notified with the delay of a message. */
  #drain(): void {
    const {
      clock,
      random,
      delayMs: [least, most],
    } = this.#options;
    this.#window = "draining";
    clock.after(random.between(least, most), () => {
      if (this.#window === "full" || this.#isLost) return;
      this.#window = "open";
      this.#ends.onDrained();
    });
  }
}
