import type { RemovedName } from "../delivery/removed-name.ts";
import type { Holds } from "./hold.ts";

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
  /** Some of what was taken refers to what was removed since, and the client will not have. */
  readonly isObsolete: boolean;
  /** The response that was taken waits as a whole: more of its names would wait than wait one by one, or it may not leave out one that would. */
  readonly waitsAsWhole: boolean;
  /** Something of it is not accepted: it is unanswered, rejected, or not sent yet. */
  readonly isBusy: boolean;
  /** The client has accepted some of it a short time ago that may wait for other types. */
  readonly mayBeCold: boolean;
  /** The client has rejected content that is still subscribed. */
  readonly rejecting: boolean;
  /** Revision of the oldest removal that waits until those who refer to it have let go. */
  readonly heldFrom: number;
  /** Revision of the oldest state that the client may have of a name whose removal waits. */
  readonly heldBase: number;
  /** It is known what a resource of this type refers to. */
  readonly knowsReferences: boolean;
  /** Names that wait, each with what the client lacks for it (S-ORD-4). */
  readonly heldBack: Holds;
  /** The client was sent this name, has rejected it and never had it before. */
  lacks(name: string): boolean;
  /** Says how far a name has come that does not exist now, and may have existed at a revision. */
  removed(name: string, at: number): RemovedName;
  /** This name exists, and the client has not accepted it since it came to exist. */
  awaits(name: string): boolean;
  /** The client has accepted this name a short time ago, and it waits for another (S-ORD-2). */
  isCold(name: string): boolean;
  /** This name is not there yet: subscribed and missing, or about to be subscribed. */
  misses(name: string): boolean;
  /** Sends what was taken, or else what is pending; removals up to this revision. `isLimited`: false, its time to wait for what is not accepted is over. */
  drain(removeUpTo: number, isLimited?: boolean): void;
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
  /** Puts those of the names that wait among what is pending that may go by now. */
  releaseHolds(): void;
  /** Asks for a repair of the response that is unanswered, if something is to be sent next to it, or removed (S-ACK-16). */
  awaitRepair(): void;
  /** Sends the delayed removals, up to this revision. */
  release(removeUpTo: number): void;
}
