import type { Entry } from "@xdstp/core";
import type { MissedReference, NackError } from "../stream/stream-event.ts";
import type { Origin } from "./origin.ts";

/** A response that the client has not answered yet; it may have several parts (S-ACK-16). */
export interface Batch {
  /** Nonce of the first part. */
  readonly first: number;
  /** Nonce of the last part. */
  readonly last: number;
  /**
   * Nonce of the first part of what was sent last. Parts with smaller nonces have been repaired
   * since (S-ACK-16).
   */
  readonly newest: number;
  /** The revision from which to start again if it is rejected. */
  readonly base: number;
  /** True if it answers a request, so that its entries may be older than `base`. */
  readonly asked: boolean;
  /** The revision that the client has once it accepts the response. */
  readonly upTo: number;
  /** The version in its parts; the parts of a split SotW response have a suffix. */
  readonly version: string;
  /**
   * When the first part was sent, by `Clock.now()`: the client has owed an answer since then
   * (S-ACK-17).
   */
  readonly since: number;
  /** When the first part was sent, in milliseconds since the epoch. */
  readonly sentAt: number;
  /**
   * When it was last repaired, by `Clock.now()`; `since` if it never was. The time until the next
   * repair starts here (S-ACK-16).
   */
  readonly repairedAt: number;
  /** The origin of its entries. */
  readonly origin: Origin;
  /** All its entries, in the order of sending. */
  readonly entries: readonly Entry[];
  /** The entries that were sent last, if it was repaired; else all of them. */
  readonly newestEntries: readonly Entry[];
  /**
   * The rejection of a part. The batch ends with the answer to its last part. undefined: no part
   * was rejected.
   */
  readonly rejection: NackError | undefined;
  /** True if a rejected part was already repaired, so that the state to send differs from it. */
  readonly repaired: boolean;
  /** True if a topic of it has been unsubscribed since it was sent. */
  readonly narrowed: boolean;
  /** The references of its rejected parts that the client had not accepted at that time. */
  readonly missed: readonly MissedReference[];
  /**
   * True if its last part is the full state: a client that accepts that part keeps nothing of an
   * earlier rejected part.
   */
  readonly whole: boolean;
}
