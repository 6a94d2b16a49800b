import type { ServerContext } from "../stream/server-context.ts";
import type { StreamInfo } from "../stream/stream-event.ts";
import { relationsOf, type Relation } from "./relations.ts";
import { heldNames, heldSince } from "./hold-back.ts";
import type { OrderedType } from "./ordered-type.ts";
import { Wait } from "../stream/wait.ts";

/** The stream whose types are served in order. */
export interface OrderedStream {
  /** In the order of sending. */
  readonly types: readonly OrderedType[];
  /** It is open, and its wire takes more. */
  readonly canSend: boolean;
  /** The stream, for events. */
  readonly info: StreamInfo;
  /** Asks for a drain in a later turn. */
  schedule(): void;
}

/** Make before break on one stream (S-ORD-1 to S-ORD-4). */
export interface Ordering {
  /** Sends what may go now: additions whose gate is open, from the lowest rank up, then the removals for which everyone has let go. */
  drain(): void;
  /** What was taken for a cut goes back among what is pending: the client wants or has something else by now. The cap of the wait runs on. */
  thaw(): void;
  /** The stream is over: nothing is waited for. */
  stop(): void;
}

/** Made when a stream has a second type. */
export function createOrdering(context: ServerContext, stream: OrderedStream): Ordering {
  return new StreamOrdering(context, stream);
}

class StreamOrdering implements Ordering {
  readonly #context: ServerContext;
  readonly #stream: OrderedStream;
  #relations: readonly Relation[] = [];
  /** Revision of the cut. */
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

  /** Each resource waits for what it refers to, the others go. Where too many would wait, all that was taken waits; what has come since goes after it. */
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

  /** The client has not accepted all of a type that this one follows, or a short time ago. */
  #isBehind(index: number): boolean {
    return this.#relation(index).waitsFor.some((other) => {
      const { isBusy, mayBeCold } = this.#at(other);
      return isBusy || mayBeCold;
    });
  }

  /** What was taken may say nothing new by now: then no answer follows after which what has come since the cut could go. */
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

  /** Not everything up to this revision is answered of a type that it follows; or some is rejected, and who refers to it is not known. */
  #mustWait(index: number, revision: number): boolean {
    if (this.#cut?.expired === true) return false;
    const { knowsReferences, taken } = this.#at(index);
    return this.#relation(index).waitsFor.some((other) => {
      const { answeredUpTo, unsentFrom, rejecting } = this.#at(other);
      // What is pending of a type of the cut has come after it.
      const unsent = taken && this.#relation(other).cut ? Infinity : unsentFrom;
      return Math.min(answeredUpTo, unsent) < revision || (rejecting && !knowsReferences);
    });
  }

  /** One cut per stream: what is pending of all types in the relation, at one revision. */
  #takeAll(): void {
    this.#revision = this.#context.source.revision;
    for (const [index, type] of this.#stream.types.entries())
      if (this.#relation(index).cut && type.pending) type.take(this.#removable(index));
  }

  /** Revision up to which removals of a type may go. An overdue answer is waited for no longer, but a rejected one says that the old state is in use. */
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

  /** Types that refer to each other in a circle would wait for ever: when all else is done the first of them goes. What only they refer to goes after them. */
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

  /** Removals of this type wait only for types whose removals wait for it as well. */
  #isInCircle(index: number): boolean {
    if (this.#at(index).heldFrom === Infinity) return false;
    return [...this.#waitsBehind(index)].every(
      (other) => this.#at(other).heldFrom < Infinity && this.#waitsBehind(other).has(index),
    );
  }

  /** The types that have to let go before this one, directly and behind others. */
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

  /** Everything waits at most for so long; a wait that makes headway begins again. */
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

  /** The oldest name that waits has the time. */
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
