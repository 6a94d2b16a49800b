import type { Entry, NodeInfo, PeerIdentity, Reference, ResourceSource } from "@xdstp/core";
import type { HeldBackName } from "../order/hold.ts";
import type { NotSent } from "../delivery/not-sent.ts";

/** Which stream an event or a status row is about. */
export interface StreamInfo {
  /** Counts up within the process. */
  readonly id: number;
  /** The variant that the client speaks. */
  readonly variant: "delta" | "sotw";
  /** Address of the peer, as the wire gave it. */
  readonly peer: string;
  /** The type of a per-type service; absent on ADS. */
  readonly service?: string;
  /** Who the peer is, as the wire has verified it; absent: unknown (S-NODE-8). */
  readonly identity?: PeerIdentity;
  /** As claimed in the first message; absent before it. A claim, not an identity (S-NODE-8). */
  readonly node: NodeInfo | undefined;
  /** The `viewKey` of the source that the stream is served from. Absent: it has none. */
  readonly viewKey?: string | undefined;
}

/** What a NACK said: text of the client, cut, unescaped and untrusted (S-ACK-15). */
export interface NackError {
  /** A gRPC status code, as the client gave it. */
  readonly code: number;
  /** The text of the client. */
  readonly message: string;
}

/** Something that rejected content refers to, and that the client had not accepted when it rejected (S-ACK-21). */
export interface MissedReference extends Reference {
  /** It exists, as this client sees the source. */
  readonly served: boolean;
}

/** The entries of an answered response, by reference. A client answers a response as a whole, so it is not known which part of it was bad (S-ACK-15). */
export interface HeldByResponse {
  /** All of it, as it was sent; of SotW with full state what did not change too. */
  readonly entries: readonly Entry[];
  /** Revision that the client had accepted before: what is newer was a change to it. */
  readonly base: number;
}

/**
 * What happens on a stream. `heartbeat`: resources with a TTL were kept alive at the client; an answer to it is reported only if it is a `nack` (S-TTL-5). `missed`: what the rejected content refers to and the client has not accepted; absent: nothing (S-ACK-21). `order-expired`: no answer came within the limit, so these types go on without it, additions of a `cut` or `removals`; `names`: those of these types that waited one by one, absent where none did (S-ORD-4). `held` is absent in the answer to a heartbeat.
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

/** A source that wants to know what becomes of what it gives: a relay, which asks some clients first. */
export interface ListeningSource extends ResourceSource {
  /** Told of everything that happens on the streams of the server that it is the source of, its views included; must not throw. Absent: it does not ask. */
  observe?(event: StreamEvent): void;
  /** What clients have rejected of it, newest first, for client status. Absent: it does not count. */
  rejections?(): readonly RejectedVersion[];
}

/** A version of a resource that clients have rejected. It is what the source was sent: an ACK of a relay upstream does not say that clients have accepted it (B-RELAY-5). */
export interface RejectedVersion {
  /** The type URL of the resource. */
  readonly typeUrl: string;
  /** The name of the resource. */
  readonly name: string;
  /** Empty: that there is none. */
  readonly version: string;
  /** How many distinct clients have rejected it. */
  readonly clients: number;
  /** The first of them, at most 8: what is verified of who they are, else the id they claim, else where they come from. Untrusted text. */
  readonly by: readonly string[];
  /** Of how many changes in one response it was the rejected one, at best. 1: of no other. A client answers a response as a whole, so the others may be innocent. */
  readonly among: number;
  /** What the first of them says: untrusted text, cut. */
  readonly reason: string;
  /** When it was rejected first, in milliseconds since the epoch. */
  readonly since: number;
}
