import type { Reference } from "@xdstp/core";

/** One type on one stream, as much of it as the order of sending needs (S-ORD-1 to S-ORD-4). Revisions are Infinity where nothing limits them. */
export interface OrderedType {
  /** The type URL. */
  readonly typeUrl: string;
  /** Its place in the order of sending (S-ORD-1). */
  readonly rank: number;
  /** A response is unanswered. */
  readonly inFlight: boolean;
  /** A response has been unanswered for too long: the newest state may go out next to it (S-ACK-16). */
  readonly overdue: boolean;
  /** Something could be sent now but for flow control and order. */
  readonly pending: boolean;
  /** What was pending at the revision of a cut waits to be sent; before it nothing newer goes. */
  readonly taken: boolean;
  /** Revision up to which the client has answered all that was sent or read, with ACK or NACK; -1 where revisions do not apply. */
  readonly answeredUpTo: number;
  /** Revision after which something of this type is pending; -1 where it was requested. */
  readonly unsentFrom: number;
  /** Revision after which it has rejected something, or something waits. */
  readonly rejectedFrom: number;
  /** Revision up to which it has accepted what it was sent. */
  readonly accepted: number;
  /** What was taken names something new that has not got what it waits for, like a cluster without its assignment (S-ORD-2). */
  readonly namesCold: boolean;
  /** The client has rejected content that is still subscribed. */
  readonly rejecting: boolean;
  /** Revision of the oldest removal that waits until those who refer to it have let go. */
  readonly heldFrom: number;
  /** It is known what a resource of this type refers to. */
  readonly knowsReferences: boolean;
  /** Names held back, each with what the client lacks for it (S-ORD-4). */
  readonly heldBack: ReadonlyMap<string, Reference>;
  /** The client was sent this name, has rejected it and never had it before. */
  lacks(name: string): boolean;
  /** This name was sent, exists only since this revision, and waits for another (S-ORD-2). */
  isCold(name: string, since: number): boolean;
  /** This name is not there yet: subscribed and missing, or about to be subscribed. */
  misses(name: string): boolean;
  /** Sends what was taken, or else what is pending; removals up to this revision. */
  drain(removeUpTo: number): void;
  /** Takes what is pending, to be sent later as it is now. */
  take(removeUpTo: number): void;
  /** Puts what was taken back among what is pending. */
  putBack(): void;
  /** It has rejected what refers to something that it has not accepted (S-ACK-21). */
  readonly mayRetry: boolean;
  /** Offers rejected content again if the client has accepted since what it refers to (S-ACK-21). */
  retryRejected(): void;
  /** The client has accepted the present state of this name. `isSentAgain`: also where that is on its way again, with what waits for it (S-WARM-1). */
  hasAccepted(name: string, isSentAgain?: boolean): boolean;
  /** Puts the names held back among what is pending. */
  takeUpAgain(): void;
  /** Sends the delayed removals, up to this revision. */
  release(removeUpTo: number): void;
}
