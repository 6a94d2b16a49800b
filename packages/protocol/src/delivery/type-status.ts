import type { HeldBackName } from "../order/hold.ts";
import type { MissedReference, NackError, StreamInfo } from "../stream/stream-event.ts";

/** The newest rejection of a type on a stream. */
export interface LastError extends NackError {
  /** When it came, in milliseconds since the epoch. */
  readonly at: number;
  /** When the client began to reject: that of the first rejection since something was accepted. */
  readonly since: number;
  /** The version rejected. */
  readonly version: string;
  /** The references that the client had not accepted. The content is sent again when the client accepts one of them (S-ACK-21). Absent: none. */
  readonly missed?: readonly MissedReference[];
}

/** One type on one stream, as operators read it (S-ACK-9). */
export interface TypeStatus {
  /** The type URL. */
  readonly typeUrl: string;
  /**
   * SYNCED: sent and accepted. STALE: sent, not answered yet. NACKED: the newest answer was a rejection. NOT_SENT: nothing to send so far.
   * REQUESTED: requested names are not known yet.
   */
  readonly state: "SYNCED" | "STALE" | "NACKED" | "NOT_SENT" | "REQUESTED";
  /** How many names, globs and wildcards are subscribed. */
  readonly subscriptions: number;
  /** Whether `*` is among them (S-WILD-1). */
  readonly wildcard: boolean;
  /** Version and nonce of the newest response; empty before the first. */
  readonly versionSent: string;
  /** Nonce of the newest response; empty before the first. */
  readonly nonceSent: string;
  /** Version and nonce of the newest accepted response; empty before the first. */
  readonly versionAccepted: string;
  /** Nonce of the newest accepted response; empty before the first. */
  readonly nonceAccepted: string;
  /** Milliseconds since the epoch at which the oldest unanswered response was sent. */
  readonly pendingSince?: number;
  /** No answer within the limit (S-ACK-17). */
  readonly stuck: boolean;
  /** The newest rejection, until something is accepted; the client uses `versionAccepted` meanwhile. */
  readonly lastError?: LastError;
  /** How many responses were rejected since the stream began. */
  readonly nacks: number;
  /** Milliseconds since the epoch at which the client accepted something last; absent if it never has. */
  readonly acceptedAt?: number;
  /** Names that are not sent yet because they would point at nothing (S-ORD-4). Absent: none. */
  readonly heldBack?: readonly HeldBackName[];
}

/** One stream, as operators read it. */
export interface StreamStatus extends StreamInfo {
  /** Milliseconds since the epoch at which the stream began. */
  readonly connectedAt: number;
  /** A row for each type that the stream has asked for. */
  readonly types: readonly TypeStatus[];
}
