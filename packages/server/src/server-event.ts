import type { NodeInfo, Status } from "@xdstp/core";
import type { GrpcEvent } from "@xdstp/grpc/server";
import type { NackError, StreamEvent } from "@xdstp/protocol/server";

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
  /** A Fetch was answered (S-REST-9). */
  | {
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

/** A listener for events. */
export interface EventHub {
  /** Adds a listener; the answer removes it. */
  listen(listener: (event: ServerEvent) => void): () => void;
  /** Notifies all listeners, in the order in which they were added. undefined without listeners, so that no event is made. */
  readonly emit: ((event: ServerEvent) => void) | undefined;
  /** Reports an error thrown by code of the user. The peer sees a fixed text at most. */
  readonly fault: (where: string, error: unknown) => void;
}

/** A hub that survives its listeners: an error of one is reported to all as a fault, once, and goes no further. */
export function createEventHub(): EventHub {
  const listeners = new Set<(event: ServerEvent) => void>();
  const tell = (event: ServerEvent): void => {
    for (const listener of listeners) {
      try {
        listener(event);
      } catch (error) {
        if (event.kind !== "fault") tell({ kind: "fault", where: "event listener", error });
      }
    }
  };
  return {
    listen(listener) {
      const own = (event: ServerEvent): void => {
        listener(event);
      };
      listeners.add(own);
      return () => {
        listeners.delete(own);
      };
    },
    get emit() {
      return listeners.size === 0 ? undefined : tell;
    },
    fault(where, error) {
      tell({ kind: "fault", where, error });
    },
  };
}
