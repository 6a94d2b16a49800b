import type { ServerContext } from "../stream/server-context.ts";
import type { StreamInfo } from "../stream/stream-event.ts";
import { relationsOf, type Relation } from "./relations.ts";
import { heldNames, heldSince } from "./hold-back.ts";
import type { OrderedType } from "./ordered-type.ts";
import { Wait } from "../stream/wait.ts";

/** The stream whose types are served in order. */
export interface OrderedStream {
  /** The types of the stream, in the order of sending. */
  readonly types: readonly OrderedType[];
  /** True if it is open and its wire accepts more. */
  readonly canSend: boolean;
  /** The stream, for events. */
  readonly info: StreamInfo;
  /** Requests a drain in a later turn. */
  schedule(): void;
}

/** Make before break on one stream (S-ORD-1 to S-ORD-4). */
export interface Ordering {
  /**
   * Sends what can be sent now: additions that need not wait, from the lowest rank up, then
   * removals of names to which no resource refers any more.
   */
  drain(): void;
  /**
   * Puts everything that was taken for a cut back among what is pending, since the client has
   * subscribed to or received something else. The time limit of the wait is not reset.
   */
  thaw(): void;
  /** Stops all waits when the stream is over. */
  stop(): void;
}

/** Creates the order of sending of a stream. Called when the stream has a second type. */
export function createOrdering(context: ServerContext, stream: OrderedStream): Ordering {
  return new StreamOrdering(context, stream);
}

class StreamOrdering implements Ordering {
  readonly #context: ServerContext;
  readonly #stream: OrderedStream;
  #relations: readonly Relation[] = [];
  /** The revision of the cut. */
  #revision = 0;
  #cut: Wait | undefined;
  #removals: Wait | undefined;
  #holds: Wait | undefined;

  constructor(context: ServerContext, stream: OrderedStream) {
    this.#context = context;
    this.#stream = stream;
  }

  drain(): void {
    const { types } = this.#stream;
    if (this.#relations.length !== types.length)
      this.#relations = relationsOf(
        this.#context.source,
        types.map(({ typeUrl }) => typeUrl),
      );
    for (let index = 0; index < types.length && this.#stream.canSend; index++) this.#serve(index);
    for (
      let left = 2 * types.length;
      left > 0 && this.#stream.canSend && this.#releaseNext();
      left--
    );
    this.#watch();
  }

  thaw(): void {
    for (const type of this.#stream.types) if (type.taken) type.putBack();
    this.#stream.schedule();
  }

  stop(): void {
    this.#cut?.end();
    this.#removals?.end();
    this.#holds?.end();
  }

  #serve(index: number): void {
    const type = this.#at(index);
    const { cut, byName } = this.#relation(index);
    if (type.heldBack.size > 0) type.releaseHolds();
    if (type.mayRetry) type.retryRejected();
    if (type.inFlight) type.awaitRepair();
    if (type.inFlight || !(type.pending || type.taken)) return;
    if (byName) {
      this.#serveByName(index);
      return;
    }
    if (cut && type.pending && this.#isCutOpen && !type.taken && (type.overdue || type.rejecting))
      this.thaw();
    if (cut && !type.taken) {
      if (this.#isCutOpen) return;
      if (this.#mustWait(index, this.#context.source.revision)) this.#takeAll();
      else {
        type.drain(this.#removable(index));
        return;
      }
    }
    if (!cut) type.drain(this.#removable(index));
    else if (type.taken && !this.#mustWait(index, this.#revision)) this.#drainTaken(index);
  }

  /**
   * Sends a type whose references are known: each resource waits for the names that it refers to,
   * and the others are sent. If too many would wait, everything that was taken waits, and newer
   * changes are sent after it.
   */
  #serveByName(index: number): void {
    const type = this.#at(index);
    if (type.taken && (type.isObsolete || (type.pending && (type.overdue || type.rejecting))))
      type.putBack();
    if (!type.taken && this.#isBehind(index)) type.take(this.#removable(index));
    const isLimited = this.#cut?.expired !== true;
    if (type.taken && isLimited && type.waitsAsWhole) return;
    const wasTaken = type.taken;
    type.drain(this.#removable(index), isLimited);
    if (wasTaken && type.pending && !type.inFlight) this.#stream.schedule();
  }

  /**
   * Returns true if the client has not accepted everything of a type that this one follows, or has
   * accepted it only recently.
   */
  #isBehind(index: number): boolean {
    return this.#relation(index).waitsFor.some((other) => {
      const { isBusy, mayBeCold } = this.#at(other);
      return isBusy || mayBeCold;
    });
  }

  /**
   * Sends what was taken. It may have nothing new by now: then no answer will follow that would
   * cause changes after the cut to be sent, so a drain is scheduled.
   */
  #drainTaken(index: number): void {
    const { types } = this.#stream;
    this.#at(index).drain(this.#removable(index));
    if (
      !this.#isCutOpen &&
      types.some((type, other) => this.#relation(other).cut && type.pending && !type.inFlight)
    )
      this.#stream.schedule();
  }

  get #isCutOpen(): boolean {
    return this.#stream.types.some(({ taken }, index) => taken && this.#relation(index).cut);
  }

  /**
   * Returns true if a type that this one follows is not completely answered up to this revision, or
   * is rejected while the references of this type are not known.
   */
  #mustWait(index: number, revision: number): boolean {
    if (this.#cut?.expired === true) return false;
    const { knowsReferences, taken } = this.#at(index);
    return this.#relation(index).waitsFor.some((other) => {
      const { answeredUpTo, unsentFrom, rejecting } = this.#at(other);
      // A pending change of a type of the cut is newer than the cut.
      const unsent = taken && this.#relation(other).cut ? Infinity : unsentFrom;
      return Math.min(answeredUpTo, unsent) < revision || (rejecting && !knowsReferences);
    });
  }

  /** Takes the pending changes of all related types at one revision: one cut per stream. */
  #takeAll(): void {
    this.#revision = this.#context.source.revision;
    for (const [index, type] of this.#stream.types.entries())
      if (this.#relation(index).cut && type.pending) type.take(this.#removable(index));
  }

  /**
   * Returns the revision up to which removals of a type can be sent. After the time limit they do
   * not wait for overdue answers, but still for rejections, since the client then uses its old
   * state.
   */
  #removable(index: number): number {
    const expired = this.#removals?.expired === true;
    return this.#relation(index).referrers.reduce((least, other) => {
      const { answeredUpTo, unsentFrom, rejectedFrom, heldBase } = this.#at(other);
      return Math.min(
        least,
        rejectedFrom,
        expired ? Infinity : Math.min(answeredUpTo, unsentFrom, heldBase),
      );
    }, Infinity);
  }

  /**
   * Sends the removals of one type that need not wait. Types that refer to each other in a circle
   * would wait for ever: when nothing else is left, the first of them is sent. Removals that wait
   * only for these follow. Returns true if removals were sent.
   */
  #releaseNext(): boolean {
    const { types } = this.#stream;
    const free = types.findIndex(
      (type, index) =>
        type.heldFrom < Infinity && isIdle(type) && this.#removable(index) >= type.heldFrom,
    );
    if (free >= 0) this.#release(free, this.#removable(free));
    const circle =
      free < 0 && types.every((type) => isIdle(type) && type.rejectedFrom === Infinity)
        ? types.findIndex((_, index) => this.#isInCircle(index))
        : -1;
    if (circle >= 0) this.#release(circle, Infinity);
    return free >= 0 || circle >= 0;
  }

  /**
   * Returns true if the removals of this type wait only for types whose removals in turn wait for
   * it.
   */
  #isInCircle(index: number): boolean {
    if (this.#at(index).heldFrom === Infinity) return false;
    return [...this.#waitsBehind(index)].every(
      (other) => this.#at(other).heldFrom < Infinity && this.#waitsBehind(other).has(index),
    );
  }

  /**
   * Returns the types that have to be done before the removals of this one, directly or through
   * other types.
   */
  #waitsBehind(index: number, found: Set<number> = new Set<number>()): ReadonlySet<number> {
    for (const other of this.#relation(index).referrers) {
      if (found.has(other) || this.#at(other).heldBase === Infinity) continue;
      found.add(other);
      this.#waitsBehind(other, found);
    }
    return found;
  }

  #release(index: number, upTo: number): void {
    this.#at(index).release(upTo);
    if (this.#removals?.expired !== true) this.#removals?.end();
  }

  /** Starts and ends the time limits. A wait that makes progress starts again. */
  #watch(): void {
    const { types } = this.#stream;
    if (types.some(({ taken }) => taken))
      (this.#cut ??= this.#wait("cut", (type) => type.taken)).begin();
    else this.#cut?.end();
    if (this.#removals?.expired === true) this.#removals.end();
    if (types.some(({ heldFrom }) => heldFrom < Infinity))
      (this.#removals ??= this.#wait("removals", (type) => type.heldFrom < Infinity)).begin();
    else this.#removals?.end();
    this.#watchHolds();
  }

  /** Starts the time limit of the names that wait: the oldest one counts. */
  #watchHolds(): void {
    const since = this.#stream.types.reduce(
      (oldest, { heldBack }) => Math.min(oldest, heldSince(heldBack)),
      Infinity,
    );
    if (since === Infinity) this.#holds?.end();
    else
      (this.#holds ??= this.#wait("cut", ({ heldBack }) =>
        this.#isOver(heldSince(heldBack)),
      )).beginAt(since);
  }

  #isOver(since: number): boolean {
    return since + this.#context.limits.orderMs <= this.#context.clock.now();
  }

  #wait(what: "cut" | "removals", isWaiting: (type: OrderedType) => boolean): Wait {
    return new Wait(this.#context, () => {
      const { clock, emit } = this.#context;
      const types = this.#stream.types.filter(isWaiting);
      const names = types.flatMap(({ heldBack }) =>
        heldNames(
          heldBack,
          clock,
          ({ phase, since }) => phase === "unaccepted" && this.#isOver(since),
        ),
      );
      emit?.({
        kind: "order-expired",
        stream: this.#stream.info,
        what,
        typeUrls: types.map(({ typeUrl }) => typeUrl),
        ...(names.length > 0 && { names }),
      });
      this.#stream.schedule();
    });
  }

  #at(index: number): OrderedType {
    const type = this.#stream.types[index];
    if (type === undefined) throw new RangeError(`no type ${index}`);
    return type;
  }

  #relation(index: number): Relation {
    return this.#relations[index] ?? { waitsFor: [], referrers: [], byName: false, cut: false };
  }
}

function isIdle({ inFlight, pending, taken }: OrderedType): boolean {
  return !inFlight && !pending && !taken;
}
