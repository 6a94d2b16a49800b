import type { HeldBackName } from "../order/hold.ts";
import type { MissedReference, NackError, StreamInfo } from "../stream/stream-event.ts";

/** The newest rejection of a type on a stream. */
export interface LastError extends NackError {
  /** When it was rejected, in milliseconds since the epoch. */
  readonly at: number;
  /**
   * When the client began to reject, in milliseconds since the epoch: the time of the first
   * rejection since something was accepted.
   */
  readonly since: number;
  /** The rejected version. */
  readonly version: string;
  /**
   * The references that the client had not accepted. The content is sent again when the client
   * accepts one of them (S-ACK-21). Absent: none.
   */
  readonly missed?: readonly MissedReference[];
}

/** One type on one stream, as operators read it (S-ACK-9). */
export interface TypeStatus {
  /** The type URL. */
  readonly typeUrl: string;
  /**
   * - `SYNCED`: sent and accepted.
   * - `STALE`: sent, and not answered yet; or something has changed since, or waits.
   * - `NACKED`: the newest answer was a rejection.
   * - `NOT_SENT`: nothing was sent yet.
   * - `REQUESTED`: requested names are not known yet.
   */
  readonly state: "SYNCED" | "STALE" | "NACKED" | "NOT_SENT" | "REQUESTED";
  /** The number of names, globs and wildcards that are subscribed. */
  readonly subscriptions: number;
  /** True if `*` is subscribed (S-WILD-1). */
  readonly wildcard: boolean;
  /** Version of the newest response; empty before the first. */
  readonly versionSent: string;
  /** Nonce of the newest response; empty before the first. */
  readonly nonceSent: string;
  /** Version of the newest accepted response; empty before the first. */
  readonly versionAccepted: string;
  /** Nonce of the newest accepted response; empty before the first. */
  readonly nonceAccepted: string;
  /** Milliseconds since the epoch at which the oldest unanswered response was sent. */
  readonly pendingSince?: number;
  /** True if a response has been unanswered for longer than `stuckMs` (S-ACK-17). */
  readonly stuck: boolean;
  /**
   * The newest rejection; absent after something was accepted. Meanwhile the client uses
   * `versionAccepted`.
   */
  readonly lastError?: LastError;
  /** The number of responses that were rejected since the stream began. */
  readonly nacks: number;
  /**
   * When the client last accepted something, in milliseconds since the epoch. Absent: it never has.
   */
  readonly acceptedAt?: number;
  /**
   * Names that are not sent yet, since the client lacks what they refer to (S-ORD-4). Absent: none.
   */
  readonly heldBack?: readonly HeldBackName[];
}

/** The status of one stream, as operators read it. */
export interface StreamStatus extends StreamInfo {
  /** Milliseconds since the epoch at which the stream began. */
  readonly connectedAt: number;
  /** A row for each type that was requested on the stream. */
  readonly types: readonly TypeStatus[];
}
