import type { RemovedName } from "../delivery/removed-name.ts";
import type { Holds } from "./hold.ts";

/**
 * The part of one type on one stream that the order of sending needs (S-ORD-1 to S-ORD-4). A
 * revision of Infinity means that there is no limit.
 */
export interface OrderedType {
  /** The type URL. */
  readonly typeUrl: string;
  /** Its rank in the order of sending (S-ORD-1): a type with a lower rank is sent first. */
  readonly rank: number;
  /** True if a response is unanswered. */
  readonly inFlight: boolean;
  /**
   * True if a response has been unanswered for too long, so that the newest state may be sent
   * nevertheless (S-ACK-16).
   */
  readonly overdue: boolean;
  /** True if something could be sent now, apart from flow control and order. */
  readonly pending: boolean;
  /**
   * True if a response was taken at the revision of a cut and waits to be sent. Nothing newer is
   * sent before it.
   */
  readonly taken: boolean;
  /**
   * The revision up to which the client has answered, with ACK or NACK, everything that was sent or
   * taken; -1: that includes a requested resource.
   */
  readonly answeredUpTo: number;
  /**
   * The revision after which something of this type is pending; -1: a requested resource is
   * pending.
   */
  readonly unsentFrom: number;
  /** The revision after which the client has rejected something, or something waits. */
  readonly rejectedFrom: number;
  /**
   * True if the response that was taken refers to a name that was removed since, and that the
   * client will not have.
   */
  readonly isObsolete: boolean;
  /**
   * True if the response that was taken waits as a whole: more of its names would wait than may
   * wait one by one, or one would wait that it must not leave out.
   */
  readonly waitsAsWhole: boolean;
  /** True if something of it is not accepted: it is unanswered, rejected, or not sent yet. */
  readonly isBusy: boolean;
  /** True if the client has recently accepted resources that may wait for other types. */
  readonly mayBeCold: boolean;
  /** True if the client has rejected content that is still subscribed. */
  readonly rejecting: boolean;
  /** The revision of the oldest removal that waits until no resource refers to the name. */
  readonly heldFrom: number;
  /** The revision of the oldest state that the client may have of a name whose removal waits. */
  readonly heldBase: number;
  /** True if the references of resources of this type are known. */
  readonly knowsReferences: boolean;
  /** The names that wait, each with what the client lacks for it (S-ORD-4). */
  readonly heldBack: Holds;
  /** Returns true if the client was sent this name, has rejected it and never had it before. */
  lacks(name: string): boolean;
  /**
   * Returns what the client knows of a name that does not exist now, and that may have existed at
   * the revision `at`.
   */
  removed(name: string, at: number): RemovedName;
  /**
   * Returns true if this name exists, and the client has not accepted it since it came into
   * existence.
   */
  awaits(name: string): boolean;
  /**
   * Returns true if the client has recently accepted this name, and the name waits for another one
   * (S-ORD-2).
   */
  isCold(name: string): boolean;
  /**
   * Returns true if this name does not exist yet: it is subscribed and missing, or may be
   * subscribed later.
   */
  misses(name: string): boolean;
  /**
   * Sends the response that was taken or, if there is none, what is pending, with removals up to
   * this revision. `isLimited` is false if the time to wait for what is not accepted has passed.
   */
  drain(removeUpTo: number, isLimited?: boolean): void;
  /** Takes what is pending, to be sent later in its present state. */
  take(removeUpTo: number): void;
  /** Puts the response that was taken back among what is pending. */
  putBack(): void;
  /**
   * True if the client has rejected content that refers to a name which it has not accepted
   * (S-ACK-21).
   */
  readonly mayRetry: boolean;
  /**
   * Offers rejected content again if the client has accepted a name since to which it refers
   * (S-ACK-21).
   */
  retryRejected(): void;
  /**
   * Returns true if the client has accepted the present state of this name. `isSentAgain`: also if
   * that state is being sent again, with what waits for it (S-WARM-1).
   */
  hasAccepted(name: string, isSentAgain?: boolean): boolean;
  /** Puts the waiting names that can be sent now among what is pending. */
  releaseHolds(): void;
  /**
   * Requests a repair of the unanswered response if something is to be sent or removed (S-ACK-16).
   */
  awaitRepair(): void;
  /** Sends the removals that wait, up to this revision. */
  release(removeUpTo: number): void;
}
