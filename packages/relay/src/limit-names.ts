import {
  forwardSink,
  InterestMap,
  XdsError,
  type Clock,
  type Interest,
  type ResourceFeed,
  type ResourceSink,
  type Timer,
} from "@xdstp/core";
import { isGlob } from "@xdstp/uri";

import { NameRoom, type NameLimits } from "./name-room.ts";

/**
 * Milliseconds for which an unsubscribed name still counts.
 * The request that unsubscribes it may be delayed behind a response, and a server may add the names
 * of a request before it removes others (S-DSUB-1).
 */
const ROOM_BACK_MS = 1_000;

type OnFull = (typeUrl: string, names: readonly string[], reason: string) => void;

/**
 * Limits the subscriptions of a feed. A server closes a stream with more names than it accepts, and all clients of a relay share that stream.
 * A name beyond the limits is unavailable with RESOURCE_EXHAUSTED until other names have ended. All other names are not affected.
 * @param onFull - Called once per type and turn with the names that wait
 */
export function limitNames(
  feed: ResourceFeed,
  limits: NameLimits,
  clock: Clock,
  onFull: OnFull,
): ResourceFeed {
  return new LimitedFeed(feed, limits, clock, onFull);
}

/** A name that waits for room. */
interface Waiting {
  readonly interest: Interest;
  /** True if RESOURCE_EXHAUSTED was reported. */
  isReported: boolean;
}

class LimitedFeed implements ResourceFeed {
  readonly #feed: ResourceFeed;
  readonly #room: NameRoom;
  readonly #clock: Clock;
  readonly #onFull: OnFull;
  readonly #asked = new InterestMap<Interest>();
  /** Unsubscribed names that still count. The value is the batch that was unsubscribed together. */
  readonly #ended = new InterestMap<readonly Interest[]>();
  /** Names that wait for room, oldest first. Globs have a queue of their own, so names do not wait for the limit of globs. */
  readonly #names = new InterestMap<Waiting>();
  readonly #globs = new InterestMap<Waiting>();
  readonly #queues = [this.#names, this.#globs];
  /** Names that began to wait after the last report, by type. */
  readonly #late = new Map<string, Waiting[]>();
  /** Timers that give room back. */
  readonly #returns = new Set<Timer>();
  #sink: ResourceSink | undefined;

  constructor(feed: ResourceFeed, limits: NameLimits, clock: Clock, onFull: OnFull) {
    this.#feed = feed;
    this.#room = new NameRoom(limits);
    this.#clock = clock;
    this.#onFull = onFull;
  }

  async run(sink: ResourceSink, signal: AbortSignal): Promise<void> {
    this.#sink = sink;
    this.#report();
    try {
      await this.#feed.run(this.#over(sink), signal);
    } finally {
      this.#sink = undefined;
      for (const timer of this.#returns) timer.cancel();
      this.#returns.clear();
    }
  }

  want(typeUrl: string, added: readonly Interest[], dropped: readonly Interest[]): void {
    const ended = dropped.filter((interest) => this.#end(typeUrl, interest));
    // Before the added names: a name in both lists is subscribed again, and already has room.
    this.#giveBackLater(typeUrl, ended);
    const begun = added.filter((interest) => this.#begin(typeUrl, interest));
    if (begun.length + ended.length > 0) this.#feed.want?.(typeUrl, begun, ended);
    if (this.#returns.size === 0) this.#report();
  }

  /** Returns false for a name that has to wait. */
  #begin(typeUrl: string, interest: Interest): boolean {
    const { name } = interest;
    if (this.#ended.delete(typeUrl, interest, name)) {
      this.#asked.set(typeUrl, interest, name, interest);
      return true;
    }
    const queue = this.#queueOf(interest);
    if (isEmpty(queue, typeUrl) && this.#take(typeUrl, interest)) return true;
    const waiting: Waiting = { interest, isReported: false };
    queue.set(typeUrl, interest, name, waiting);
    const late = this.#late.get(typeUrl);
    if (late === undefined) this.#late.set(typeUrl, [waiting]);
    else late.push(waiting);
    return false;
  }

  #take(typeUrl: string, interest: Interest): boolean {
    if (this.#room.lack(typeUrl, interest) !== undefined) return false;
    this.#room.take(typeUrl, interest);
    this.#asked.set(typeUrl, interest, interest.name, interest);
    return true;
  }

  /** Returns false for a name that was waiting. */
  #end(typeUrl: string, interest: Interest): boolean {
    const queue = this.#queueOf(interest);
    const waiting = queue.get(typeUrl, interest, interest.name);
    if (waiting === undefined) return true;
    queue.delete(typeUrl, interest, interest.name);
    if (waiting.isReported) this.#tell(typeUrl, interest, undefined);
    return false;
  }

  #giveBackLater(typeUrl: string, ended: readonly Interest[]): void {
    if (ended.length === 0) return;
    for (const interest of ended)
      if (this.#asked.delete(typeUrl, interest, interest.name))
        this.#ended.set(typeUrl, interest, interest.name, ended);
    const timer = this.#clock.after(ROOM_BACK_MS, () => {
      this.#returns.delete(timer);
      this.#giveBack(typeUrl, ended);
      this.#admit();
      this.#report();
    });
    this.#returns.add(timer);
  }

  /** Leaves out names that were subscribed again in the meantime. */
  #giveBack(typeUrl: string, ended: readonly Interest[]): void {
    for (const interest of ended) {
      if (this.#ended.get(typeUrl, interest, interest.name) !== ended) continue;
      this.#ended.delete(typeUrl, interest, interest.name);
      this.#room.giveBack(typeUrl, interest);
    }
  }

  /** Subscribes waiting names, oldest first, while there is room. */
  #admit(): void {
    for (const typeUrl of new Set([...this.#names.types(), ...this.#globs.types()])) {
      const admitted = this.#queues.flatMap((queue) => this.#takeFrom(queue, typeUrl));
      for (const { interest, isReported } of admitted)
        if (isReported) this.#tell(typeUrl, interest, undefined);
      if (admitted.length > 0)
        this.#feed.want?.(
          typeUrl,
          admitted.map(({ interest }) => interest),
          [],
        );
    }
  }

  #takeFrom(queue: InterestMap<Waiting>, typeUrl: string): readonly Waiting[] {
    const admitted: Waiting[] = [];
    for (const waiting of queue.ofType(typeUrl)) {
      const { interest } = waiting;
      if (!this.#take(typeUrl, interest)) break;
      queue.delete(typeUrl, interest, interest.name);
      admitted.push(waiting);
    }
    return admitted;
  }

  /** Reports waiting names as unavailable. The reason is that of the oldest name in the queue. */
  #report(): void {
    if (this.#sink === undefined) return;
    for (const [typeUrl, late] of this.#late)
      for (const queue of this.#queues) this.#reportQueue(typeUrl, queue, late);
    this.#late.clear();
  }

  #reportQueue(typeUrl: string, queue: InterestMap<Waiting>, late: readonly Waiting[]): void {
    const waiting = late.filter(
      (one) => queue.get(typeUrl, one.interest, one.interest.name) === one,
    );
    const [first] = queue.ofType(typeUrl);
    if (first === undefined || waiting.length === 0) return;
    const fault = this.#fault(typeUrl, first);
    for (const one of waiting) {
      one.isReported = true;
      this.#tell(typeUrl, one.interest, fault);
    }
    this.#onFull(
      typeUrl,
      waiting.map(({ interest: { name } }) => name),
      fault.text,
    );
  }

  /** When an outage ends, the cache clears the errors of single names too, so waiting names are reported again. */
  #over(sink: ResourceSink): ResourceSink {
    return forwardSink(sink, (inner) => ({
      unavailable: (scope, error) => {
        inner.unavailable(scope, error);
        if (error === undefined && scope.interest === undefined && scope.authority === undefined)
          this.#reportAgain(scope.typeUrl);
      },
    }));
  }

  #reportAgain(only: string | undefined): void {
    for (const queue of this.#queues)
      for (const typeUrl of queue.types()) {
        const [first] = queue.ofType(typeUrl);
        if (first === undefined || (only !== undefined && only !== typeUrl)) continue;
        const fault = this.#fault(typeUrl, first);
        for (const { interest, isReported } of queue.ofType(typeUrl))
          if (isReported) this.#tell(typeUrl, interest, fault);
      }
  }

  #fault(typeUrl: string, { interest }: Waiting): XdsError {
    const text = this.#room.lack(typeUrl, interest) ?? "others wait for room upstream";
    // `said`: clients of a glob, which stays subscribed, receive the reason.
    return new XdsError("RESOURCE_EXHAUSTED", text, { typeUrl, said: text });
  }

  #tell(typeUrl: string, interest: Interest, error: XdsError | undefined): void {
    this.#sink?.unavailable({ typeUrl, interest }, error);
  }

  #queueOf({ name }: Interest): InterestMap<Waiting> {
    return isGlob(name) ? this.#globs : this.#names;
  }
}

function isEmpty(queue: InterestMap<Waiting>, typeUrl: string): boolean {
  for (const _ of queue.ofType(typeUrl)) return false;
  return true;
}
