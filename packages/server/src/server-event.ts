import type { NodeInfo, Status } from "@xdstp/core";
import type { NackError, StreamEvent } from "@xdstp/protocol/server";
import type { GrpcEvent } from "@xdstp/grpc/server";

/** A Fetch was answered (S-REST-9). */
export interface FetchEvent {
  /** A Fetch was answered. */
  readonly kind: "fetch";
  /** The type URL of the request. */
  readonly typeUrl: string;
  /** As claimed in the request. */
  readonly node: NodeInfo | undefined;
  /** The names, as the request lists them. */
  readonly names: readonly string[];
  /** The version that the client says it has. */
  readonly accepted: string;
  /** What the client says of the last answer, cut: a NACK (S-REST-4). */
  readonly error?: NackError;
  /** OK, or why there was no answer. */
  readonly status: Status;
  /** Version and number of the resources that went out; empty and 0 without an answer. */
  readonly version: string;
  /** How many resources were sent; 0 without an answer. */
  readonly resources: number;
}

/** Everything that happens in a server: on its streams, on the wire, and what was turned away. `kind` tells them apart. */
export type ServerEvent =
  | StreamEvent
  | GrpcEvent
  /** A stream or Fetch that was turned away before it began: unknown method, source not ready, shutting down, not allowed. */
  | {
      /** A call was turned away. */
      readonly kind: "rejected";
      /** The gRPC method. */
      readonly path: string;
      /** Address of the peer; empty where the wire does not tell. */
      readonly peer: string;
      /** The status that the client was sent. */
      readonly status: Status;
      /** Why it was not admitted, or why that could not be decided: the text of what `authorize` threw. The client receives `status` only. */
      readonly reason?: string;
    }
  | FetchEvent
  /** Something that an operator should fix and that does not keep clients from being served. Each is reported once. */
  | {
      /** Something is not as it should be, and the server goes on. */
      readonly kind: "warning";
      /**
       * `node-version`: this Node lacks security fixes for HTTP/2; reported when the server begins to listen.
       * `unrelated-source`: `sourceFor` gave a client a source whose revisions are a sequence of their own, so `waitForAck`, client status and metrics do not cover its clients.
       */
      readonly warning: "node-version" | "unrelated-source";
      /** One line with the way out. */
      readonly message: string;
    };
