import { decodeText } from "@xdstp/core/wire";
import type { Timer } from "@xdstp/core";
import type { VariantName } from "../wire/request-fields.ts";
import { scanRequest } from "../wire/scan-request.ts";
import type { ServerContext } from "./server-context.ts";
import { createTokenBucket, type TokenBucket } from "../token-bucket.ts";

/** The cost of a request: how much it changes of the subscriptions. */
export interface RequestWeight {
  /** The type URL of the request. */
  readonly typeUrl: string;
  /** True if it is a NACK. */
  readonly rejects: boolean;
  /** The number of names that it lists. */
  readonly names: number;
  /** SotW: the hash of its list. The same list again changes nothing. */
  readonly list?: number;
}

/** The stream whose requests are paced. */
export interface PacedStream {
  readonly variant: VariantName;
  /** Processes a message. undefined: the message has ended the stream. */
  act(message: Uint8Array): RequestWeight | undefined;
  /** Requests a turn. */
  schedule(): void;
  /** Reads on, or with false reads no more. */
  read(on: boolean): void;
}

/**
 * Keeps one stream to its rate of subscription changes (S-LIM-2), with a token bucket. A plain ACK
 * costs nothing, and a NACK costs extra.
 * An empty bucket slows the stream and never ends it. A SotW request has the full list of names, so
 * of the requests that wait only the newest of a type is processed, and only that one is paid for.
 * When the bucket is at most half full, requests wait for the turn of the stream, so that a burst
 * of them becomes one.
 */
export interface RequestPacer {
  /** Handles a message that is not a plain ACK. */
  take(message: Uint8Array): void;
  /** Drops the waiting request of a type: a plain ACK of it was processed, which is newer. */
  supersede(typeUrl: string): void;
  /**
   * Processes the waiting requests in the turn of the stream, as long as there are tokens; with
   * `all`, every one.
   */
  turn(all: boolean): void;
  /** True if a request waits for the turn of the stream. */
  readonly waits: boolean;
  stop(): void;
}

/** Creates a pacer with a full bucket. */
export function createRequestPacer(context: ServerContext, stream: PacedStream): RequestPacer {
  return new Pacer(context, stream);
}

/**
 * The number of names that cost one token: a list of a thousand names is as much work as a thousand
 * small requests.
 */
const namesPerToken = 1000;
/**
 * The greatest total size of waiting messages in bytes. Messages beyond it are processed at once,
 * and paid for.
 */
const mostWaitingBytes = 1 << 20;

class Pacer implements RequestPacer {
  readonly #context: ServerContext;
  readonly #stream: PacedStream;
  readonly #bucket: TokenBucket;
  /** The hash of the last list of each type (SotW). */
  #lists: Map<string, number> | undefined;
  /** The newest waiting message of each type (SotW). */
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

  /**
   * Keeps a message for the turn of the stream. Only a message with the fields of an ACK may wait:
   * a later message of the type replaces it, and a rejection or a node must not be lost.
   */
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

  /** Waits for tokens. While there are tokens no timer is needed. */
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
