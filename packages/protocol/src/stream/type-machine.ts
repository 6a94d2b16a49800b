import type { NodeInfo } from "@xdstp/core";
import type { RequestScan } from "../wire/scan-request.ts";
import type { OrderedType } from "../order/ordered-type.ts";
import type { StreamLimits } from "./limits.ts";
import type { Repairable } from "./repairs.ts";
import type { NackError } from "./stream-event.ts";
import type { TypeStatus } from "../delivery/type-status.ts";
import type { TypeView } from "../delivery/type-view.ts";

/** What both variants' requests have in common. */
export interface DecodedRequest {
  /** Present where the message carries a node. */
  readonly node: NodeInfo | undefined;
  /** `type_url`; empty: the message has none. */
  readonly typeUrl: string;
  /** `response_nonce`; empty: the request answers nothing. */
  readonly nonce: string;
  /** `error_detail` of a NACK. undefined: it is not one. */
  readonly error: NackError | undefined;
}

/** One type on one stream: the part in which the variants differ. */
export interface TypeMachine<Request extends DecodedRequest> extends OrderedType, Repairable {
  /** A request of this type, the first included. */
  request(request: Request): void;
  /** Takes a message as a plain ACK. false: it is more than that and has to be decoded. */
  plainAck(scan: RequestScan, message: Uint8Array): boolean;
  /** Sends this name again if it is subscribed, since what waits for it was sent (S-WARM-1). */
  warm(name: string): void;
  /** How many names, globs and `*` are subscribed. */
  readonly subscriptions: number;
  /** UTF-16 units of these. */
  readonly nameLength: number;
  /** The type, as operators read it (S-ACK-9). */
  status(): TypeStatus;
  /** The same, name by name. */
  view(): TypeView;
  /** The stream is over: unwatch everything. */
  close(): void;
}

/** What a type machine asks of its stream. */
export interface TypeHost {
  /** The node of the stream. undefined: its first message has not been read. */
  readonly node: NodeInfo | undefined;
  /** Nonce of the newest frame sent on this stream, of any type. */
  readonly lastNonce: number;
  /** It is open, and its wire takes more. */
  readonly canSend: boolean;
  /** Another type of this stream, if it was requested. */
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
  /** What was taken to be sent later is taken again: the client wants or has something else by now. */
  thaw(): void;
  /** Asks for a drain in a later turn. */
  schedule(): void;
  /** Hands frames to the wire, in order; the newest nonce is recorded before (S-NONCE-9). */
  send(
    frames: readonly {
      readonly bytes: Uint8Array;
      readonly enveloped: Uint8Array;
      readonly nonce: number;
    }[],
  ): void;
  /** Ends the stream. `limit`: the one that was exceeded, to be counted. */
  end(code: number, message: string, limit?: keyof StreamLimits): void;
}
