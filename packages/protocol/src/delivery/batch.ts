import type { Entry } from "@xdstp/core";
import type { MissedReference, NackError } from "../stream/stream-event.ts";
import type { Origin } from "./origin.ts";

/** A response, or several parts of one, that the client has not answered yet (S-ACK-16). */
export interface Batch {
  /** Nonces of the first and the last part. */
  readonly first: number;
  /** Nonce of the last part. */
  readonly last: number;
  /** Nonce of the first part that was sent last: those below it were repaired since (S-ACK-16). */
  readonly newest: number;
  /** Revision from which to start again if it is rejected. */
  readonly base: number;
  /** It answers a request, so it may hold what is older than `base`. */
  readonly asked: boolean;
  /** Revision that the client has once it accepts. */
  readonly upTo: number;
  /** The version that the parts bear; those of a split SotW response have a suffix. */
  readonly version: string;
  /** When the first part of it was sent, by `Clock.now()`: the client has owed an answer since then (S-ACK-17). */
  readonly since: number;
  /** The same moment in milliseconds since the epoch. */
  readonly sentAt: number;
  /** When it was repaired last, or else `since`: the next repair counts from here (S-ACK-16). */
  readonly repairedAt: number;
  /** Where its entries came from. */
  readonly origin: Origin;
  /** All that it holds, in the order of sending. */
  readonly entries: readonly Entry[];
  /** What of it was sent last, if it was repaired; else all of it. */
  readonly newestEntries: readonly Entry[];
  /** Set when a part was rejected; the batch ends with the answer to its last part. */
  readonly rejection: NackError | undefined;
  /** What was rejected of it was repaired already: the state to send differs from it. */
  readonly repaired: boolean;
  /** Some of what it holds is not wanted any more. */
  readonly narrowed: boolean;
  /** The references of its rejected parts that the client had not accepted then. */
  readonly missed: readonly MissedReference[];
  /** Its last part is the full state: a client that accepts it has nothing left of an earlier rejected part. */
  readonly whole: boolean;
}
