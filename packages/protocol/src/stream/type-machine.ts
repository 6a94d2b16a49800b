import type { NodeInfo } from "@xdstp/core";
import type { RequestScan } from "../wire/scan-request.ts";
import type { OrderedType } from "../order/ordered-type.ts";
import type { StreamLimits } from "./limits.ts";
import type { Repairable } from "./repairs.ts";
import type { NackError } from "./stream-event.ts";
import type { TypeStatus } from "../delivery/type-status.ts";
import type { TypeView } from "../delivery/type-view.ts";

/** The fields that requests of both variants have. */
export interface DecodedRequest {
  /** The node. undefined: the message has none. */
  readonly node: NodeInfo | undefined;
  /** `type_url`; empty: the message has none. */
  readonly typeUrl: string;
  /** `response_nonce`; empty: the request answers nothing. */
  readonly nonce: string;
  /** `error_detail` of a NACK. undefined: it is not a NACK. */
  readonly error: NackError | undefined;
}

/** The state machine of one type on one stream. */
export interface TypeMachine<Request extends DecodedRequest> extends OrderedType, Repairable {
  /** Handles a request of this type, the first one included. */
  request(request: Request): void;
  /**
   * Handles a message if it is a plain ACK. Returns false if it is more, so that it has to be
   * decoded.
   */
  plainAck(scan: RequestScan, message: Uint8Array): boolean;
  /**
   * Sends a name again if it is subscribed, since a resource that waits for it was sent (S-WARM-1).
   */
  warm(name: string): void;
  /** The number of names, globs and `*` that are subscribed. */
  readonly subscriptions: number;
  /** The total length of these names in UTF-16 units. */
  readonly nameLength: number;
  /** Returns the status of the type, as operators read it (S-ACK-9). */
  status(): TypeStatus;
  /** Returns a view of the type for reports on single names. */
  view(): TypeView;
  /** Ends the machine when the stream is over, and stops watching all topics. */
  close(): void;
}

/** The part of a stream that a type uses. */
export interface TypeHost {
  /** The node of the stream. undefined: no message has come yet. */
  readonly node: NodeInfo | undefined;
  /** The nonce of the newest frame that was sent on this stream, of any type. */
  readonly lastNonce: number;
  /** True if the stream is open and its wire accepts more. */
  readonly canSend: boolean;
  /** Returns another type of this stream. undefined: it was not requested. */
  sibling(
    typeUrl: string,
  ):
    | Pick<
        TypeMachine<never>,
        | "warm"
        | "rank"
        | "isBusy"
        | "mayBeCold"
        | "lacks"
        | "awaits"
        | "isCold"
        | "misses"
        | "removed"
        | "hasAccepted"
      >
    | undefined;
  /**
   * Puts what was taken to be sent later back among what is pending: the client has subscribed to
   * or received something else.
   */
  thaw(): void;
  /** Requests a drain in a later turn. */
  schedule(): void;
  /** Passes frames to the wire in their order. The newest nonce is recorded before (S-NONCE-9). */
  send(
    frames: readonly {
      readonly bytes: Uint8Array;
      readonly enveloped: Uint8Array;
      readonly nonce: number;
    }[],
  ): void;
  /** Ends the stream. `limit`: the limit that was exceeded, which is counted. */
  end(code: number, message: string, limit?: keyof StreamLimits): void;
}
