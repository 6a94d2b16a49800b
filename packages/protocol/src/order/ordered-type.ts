import type { GateState } from "./holds.ts";

/** What a client lacks of a name: `absent`, it does not exist, or is not subscribed; `rejected`, the client rejected it and never had it; `unaccepted`, it has not been accepted since it was new. */
export type Lack = "absent" | "rejected" | "unaccepted";

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
  /** The client has rejected content that is still subscribed. */
  readonly rejecting: boolean;
  /** Revision of the oldest removal that waits until those who refer to it have let go. */
  readonly heldFrom: number;
  /** It is known what a resource of this type refers to. */
  readonly knowsReferences: boolean;
  /** Some of it waits for resources of other types. */
  readonly isWaiting: boolean;
  /** A response is unanswered or rejected, or something has not been sent: the client may lack a name. */
  readonly isBehind: boolean;
  /** A subscription covers this name. */
  covers(name: string): boolean;
  /** What the client lacks of this name; undefined: it has accepted it. */
  lacks(name: string): Lack | undefined;
  /** Revision since which this name exists without a gap; undefined: it does not, or is not subscribed. */
  existsSince(name: string): number | undefined;
  /** The response that is not answered yet brings this name. */
  carries(name: string): boolean;
  /** This name was sent, exists only since this revision, and waits for another (S-ORD-2). */
  isCold(name: string, since: number): boolean;
  /** The client does not have this name yet: it is about to be subscribed, missing, or on its way. */
  misses(name: string): boolean;
  /** Sends what was taken, or else what is pending; removals up to this revision. */
  drain(removeUpTo: number): void;
  /** Takes what is pending, to be sent later as it is now. */
  take(removeUpTo: number): void;
  /** Puts what was taken back among what is pending. */
  putBack(): void;
  /** Puts what waited for resources of other types, and can be sent now, among what is pending. */
  releaseHeld(): void;
  /** Whether what was taken may go, as far as it names resources of other types. */
  gate(): GateState;
  /** Sends the delayed removals, up to this revision. */
  release(removeUpTo: number): void;
}
