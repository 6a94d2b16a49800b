import type { Entry, NodeInfo, PeerIdentity, Reference, ResourceSource } from "@xdstp/core";
import type { HeldBackName } from "../order/hold.ts";
import type { NotSent } from "../delivery/not-sent.ts";

/** The stream of an event or a status row. */
export interface StreamInfo {
  /** A number that is unique within the process, and greater than those of earlier streams. */
  readonly id: number;
  /** The variant of the protocol. */
  readonly variant: "delta" | "sotw";
  /** The address of the peer, as the wire gave it. */
  readonly peer: string;
  /** The type URL of a per-type service. Absent: ADS. */
  readonly service?: string;
  /** The identity of the peer, as the wire has verified it (S-NODE-8). Absent: unknown. */
  readonly identity?: PeerIdentity;
  /**
   * The node of the first message (S-NODE-8): a claim, not an identity. undefined: no message has
   * come yet.
   */
  readonly node: NodeInfo | undefined;
  /** The `viewKey` of the source of the stream. Absent: it has none. */
  readonly viewKey?: string | undefined;
}

/** The error in a NACK: text of the client, cut, not escaped and untrusted (S-ACK-15). */
export interface NackError {
  /** A gRPC status code, as the client gave it. */
  readonly code: number;
  /** The text of the client. */
  readonly message: string;
}

/**
 * A name that rejected content refers to, and that the client had not accepted when it rejected it
 * (S-ACK-21).
 */
export interface MissedReference extends Reference {
  /** True if the name exists, as this client sees the source. */
  readonly served: boolean;
}

/**
 * The entries of an answered response, by reference. A client answers a response as a whole, so it
 * is not known which part of it was bad (S-ACK-15).
 */
export interface HeldByResponse {
  /** All entries that were sent; in SotW with full state also those that did not change. */
  readonly entries: readonly Entry[];
  /** The revision that the client had accepted before: an entry that is newer was a change. */
  readonly base: number;
}

/**
 * An event of a stream.
 *
 * - `heartbeat`: a heartbeat for resources with a TTL was sent. Its answer is reported only if it
 * is a `nack` (S-TTL-5).
 * - `nack`: `missed` has the names that the rejected content refers to and the client has not
 * accepted; absent: none (S-ACK-21).
 * - `order-expired`: no answer came within the time limit, so the additions of these types (`cut`),
 * or their removals (`removals`), no longer wait for it. `names` has the names of these types that
 * waited one by one; absent: none (S-ORD-4).
 * - `held` is absent in the answer to a heartbeat.
 */
export type StreamEvent =
  | { readonly kind: "connect"; readonly stream: StreamInfo }
  | {
      readonly kind: "subscribe";
      readonly stream: StreamInfo;
      readonly typeUrl: string;
      readonly added: readonly string[];
      readonly dropped: readonly string[];
    }
  | {
      readonly kind: "push";
      readonly stream: StreamInfo;
      readonly typeUrl: string;
      readonly version: string;
      readonly nonce: string;
      readonly resources: number;
      readonly removed: number;
      readonly bytes: number;
    }
  | {
      readonly kind: "heartbeat";
      readonly stream: StreamInfo;
      readonly typeUrl: string;
      readonly nonce: string;
      readonly resources: number;
      readonly bytes: number;
    }
  | {
      readonly kind: "ack";
      readonly stream: StreamInfo;
      readonly typeUrl: string;
      readonly version: string;
      readonly nonce: string;
      readonly held?: HeldByResponse;
    }
  | {
      readonly kind: "nack";
      readonly stream: StreamInfo;
      readonly typeUrl: string;
      readonly version: string;
      readonly accepted: string;
      readonly nonce: string;
      readonly error: NackError;
      readonly missed?: readonly MissedReference[];
      readonly held?: HeldByResponse;
    }
  | {
      readonly kind: "order-expired";
      readonly stream: StreamInfo;
      readonly what: "cut" | "removals";
      readonly typeUrls: readonly string[];
      readonly names?: readonly HeldBackName[];
    }
  | {
      readonly kind: "stale-nonce";
      readonly stream: StreamInfo;
      readonly typeUrl: string;
      readonly nonce: string;
    }
  | {
      readonly kind: "not-sent";
      readonly stream: StreamInfo;
      readonly typeUrl: string;
      readonly resources: readonly NotSent[];
    }
  | {
      readonly kind: "disconnect";
      readonly stream: StreamInfo;
      readonly code: number;
      readonly message: string;
    };

/**
 * A source that observes what becomes of its resources: for instance a relay that first sends a
 * change to some clients.
 */
export interface ListeningSource extends ResourceSource {
  /**
   * Called with every event of the streams of the server that it is the source of, those of its
   * views included; must not throw. Absent: it does not observe.
   */
  observe?(event: StreamEvent): void;
  /**
   * Returns the versions that clients have rejected, newest first, for client status. Absent: it
   * does not count them.
   */
  rejections?(): readonly RejectedVersion[];
}

/**
 * A version of a resource that clients have rejected. The source has accepted it: the ACK of a
 * relay to its upstream server does not mean that clients have accepted it (B-RELAY-5).
 */
export interface RejectedVersion {
  /** The type URL of the resource. */
  readonly typeUrl: string;
  /** The name of the resource. */
  readonly name: string;
  /** The version. Empty: the rejected state was the absence of the resource. */
  readonly version: string;
  /** The number of distinct clients that have rejected it. */
  readonly clients: number;
  /**
   * The first of them, at most 8: the verified identity, else the node id that they claim, else
   * their address. Untrusted text.
   */
  readonly by: readonly string[];
  /**
   * The least number of changes in a rejected response with this version. 1: it was the only change
   * of a response. A client answers a response as a whole, so with a greater number another change
   * may be the cause.
   */
  readonly among: number;
  /** The text of the first rejection: untrusted, cut. */
  readonly reason: string;
  /** When it was first rejected, in milliseconds since the epoch. */
  readonly since: number;
}
