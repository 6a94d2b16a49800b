import { decodeText } from "@xdstp/core/wire";
import type { Timer } from "@xdstp/core";
import type { VariantName } from "../wire/request-fields.ts";
import { scanRequest } from "../wire/scan-request.ts";
import type { ServerContext } from "./server-context.ts";
import { createTokenBucket, type TokenBucket } from "../token-bucket.ts";

/** What a request costs: what it changes of the subscriptions. */
export interface RequestWeight {
  /** The type URL of the request. */
  readonly typeUrl: string;
  /** It rejects something. */
  readonly rejects: boolean;
  /** How many names it lists. */
  readonly names: number;
  /** SotW: the hash of its list. The same list again changes nothing. */
  readonly list?: number;
}

/** Whose requests are paced. */
export interface PacedStream {
  readonly variant: VariantName;
  /** Acts on a message; undefined: it has ended the stream. */
  act(message: Uint8Array): RequestWeight | undefined;
  /** Asks for a turn. */
  schedule(): void;
  /** Reads no more, or reads on. */
  read(on: boolean): void;
}

/**
 * Holds one stream to its rate of subscription changes (S-LIM-2): a token bucket, which plain ACKs do not touch and a NACK empties faster.
 * An empty one slows the stream down and never ends it. In SotW a request tells everything: of those that wait only the newest of a type is acted on,
 * and only that one is paid for. From half a bucket down requests wait for the turn of the stream, so that what comes in one burst is one request.
 */
export interface RequestPacer {
  /** A message that is not a plain ACK. */
  take(message: Uint8Array): void;
  /** A plain ACK of this type was acted on: it is newer than what waits. */
  supersede(typeUrl: string): void;
  /** The turn of the stream: acts on what waits as far as there are tokens, or on all of it. */
  turn(all: boolean): void;
  /** Something waits for its turn. */
  readonly waits: boolean;
  stop(): void;
}

/** A pacer with a full bucket. */
export function createRequestPacer(context: ServerContext, stream: PacedStream): RequestPacer {
  return new Pacer(context, stream);
}

/** A list of a thousand names is as much work as a thousand small ones. */
const namesPerToken = 1000;
/** Bytes of messages that may wait; what is beyond is acted on, and paid for. */
const mostWaitingBytes = 1 << 20;

class Pacer implements RequestPacer {
  readonly #context: ServerContext;
  readonly #stream: PacedStream;
  readonly #bucket: TokenBucket;
  /** The last list of each type (SotW). */
  #lists: Map<string, number> | undefined;
  /** The newest message of each type that waits (SotW). */
  #waiting: Map<string, Uint8Array> | undefined;
  #waitingBytes = 0;
  #timer: Timer | undefined;

  constructor(context: ServerContext, stream: PacedStream) {
    const {
      clock,
      limits: { changeBurst, changesPerSecond },
    } = context;
    this.#context = context;
    this.#stream = stream;
    this.#bucket = createTokenBucket(clock, changeBurst, changesPerSecond);
  }

  get waits(): boolean {
    return this.#waiting !== undefined && this.#waiting.size > 0;
  }

  take(message: Uint8Array): void {
    if (!this.#keep(message)) this.#act(message);
  }

  supersede(typeUrl: string): void {
    this.#waitingBytes -= this.#waiting?.get(typeUrl)?.length ?? 0;
    this.#waiting?.delete(typeUrl);
  }

  turn(all: boolean): void {
    for (const [typeUrl, message] of this.#waiting ?? []) {
      if (!all && this.#bucket.balance <= 0) {
        this.#wait();
        return;
      }
      this.supersede(typeUrl);
      this.#act(message);
    }
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#waiting = undefined;
  }

  /** Only what is as simple as an ACK waits: a rejection must not be lost, nor a node. */
  #keep(message: Uint8Array): boolean {
    if (this.#stream.variant === "delta") return false;
    const scan = scanRequest(message, "sotw");
    if (!scan.plain) return false;
    const typeUrl = decodeText(message, scan.typeStart, scan.typeEnd);
    const bytes = this.#waitingBytes + message.length - (this.#waiting?.get(typeUrl)?.length ?? 0);
    if (this.#bucket.balance > this.#context.limits.changeBurst / 2 || bytes > mostWaitingBytes) {
      this.supersede(typeUrl);
      return false;
    }
    (this.#waiting ??= new Map()).set(typeUrl, Uint8Array.from(message));
    this.#waitingBytes = bytes;
    this.#stream.schedule();
    return true;
  }

  #act(message: Uint8Array): void {
    const weight = this.#stream.act(message);
    if (weight === undefined) return;
    if (this.waits) this.supersede(weight.typeUrl);
    const cost = this.#costOf(weight);
    if (cost === 0) return;
    this.#bucket.take(cost);
    const canWait =
      this.#stream.variant === "sotw" && !weight.rejects && message.length <= mostWaitingBytes;
    if (this.#bucket.balance <= 0 && !canWait) this.#pause();
  }

  #costOf({ typeUrl, rejects, names, list }: RequestWeight): number {
    const changes = list === undefined ? names > 0 : this.#lists?.get(typeUrl) !== list;
    if (list !== undefined) (this.#lists ??= new Map()).set(typeUrl, list);
    return (
      (changes ? 1 + Math.floor(names / namesPerToken) : 0) +
      (rejects ? this.#context.limits.nackCost : 0)
    );
  }

  #pause(): void {
    this.#stream.read(false);
    this.#wait();
  }

  /** Nothing is asked of the clock while there are tokens, however long. */
  #wait(): void {
    if (this.#timer !== undefined) return;
    this.#context.limited.count("changesPerSecond");
    this.#timer = this.#context.clock.after(this.#bucket.waitMs, () => {
      this.#timer = undefined;
      this.#stream.schedule();
      this.#stream.read(true);
    });
  }
}
