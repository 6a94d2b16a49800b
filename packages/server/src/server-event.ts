import type { NodeInfo, Status } from "@xdstp/core";
import type { GrpcEvent } from "@xdstp/grpc/server";
import type { NackError, StreamEvent } from "@xdstp/protocol/server";

/**
 * An event of a server: on its streams, on the wire, or about rejected calls. `kind` distinguishes
 * them.
 */
export type ServerEvent =
  | StreamEvent
  | GrpcEvent
  /**
   * A stream or Fetch that was rejected before it began: the method is unknown, the source is not
   * ready, the server is shutting down, or access is denied.
   */
  | {
      /** A call was rejected. */
      readonly kind: "rejected";
      /** The gRPC method. */
      readonly path: string;
      /** The address of the client. Empty if the wire does not know it. */
      readonly peer: string;
      /** The status that the client was sent. */
      readonly status: Status;
      /**
       * The reason of the rejection, or of the failed decision: the text of the error that
       * `authorize` threw. The client receives `status` only.
       */
      readonly reason?: string;
    }
  /** A Fetch was answered (S-REST-9). */
  | {
      /** A Fetch was answered. */
      readonly kind: "fetch";
      /** The type URL of the request. */
      readonly typeUrl: string;
      /** The claims of the node in the request. */
      readonly node: NodeInfo | undefined;
      /** The requested names. */
      readonly names: readonly string[];
      /** The version that the client claims to have. */
      readonly accepted: string;
      /** The error of the client about the previous response, cut: a NACK (S-REST-4). */
      readonly error?: NackError;
      /** OK, or the reason why there was no response. */
      readonly status: Status;
      /** The version of the response. Empty if there was none. */
      readonly version: string;
      /** The number of resources in the response. 0 if there was none. */
      readonly resources: number;
    }
  /**
   * A problem that an operator should fix, and that does not prevent clients from being served.
   * Each is reported once.
   */
  | {
      /** A problem was found; the server works. */
      readonly kind: "warning";
      /**
       * `node-version`: this version of Node lacks security fixes for HTTP/2; reported when the
       * server begins to listen.
       * `unrelated-source`: `sourceFor` returned a source whose revisions are a sequence of their
       * own, so `waitForAck`, client status and metrics do not cover its clients.
       */
      readonly warning: "node-version" | "unrelated-source";
      /** One line that also says how to fix the problem. */
      readonly message: string;
    };

/** Passes events to listeners. */
export interface EventHub {
  /** Adds a listener. Returns a function that removes it. */
  listen(listener: (event: ServerEvent) => void): () => void;
  /**
   * Calls all listeners, in the order in which they were added. `undefined` without listeners, so
   * that no event is created.
   */
  readonly emit: ((event: ServerEvent) => void) | undefined;
  /** Reports an exception in code of the user. The client receives a fixed text at most. */
  readonly fault: (where: string, error: unknown) => void;
}

/**
 * Creates a hub. An exception of a listener is reported once to all listeners as a `fault`, and has
 * no other effect.
 */
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
