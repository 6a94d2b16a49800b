import { XdsError, type XdsErrorContext, type Status, statusNameOf } from "@xdstp/core";
import type { CallPeer, MethodCall, MethodRouter } from "@xdstp/grpc/server";
import {
  ClientStatusDiscoveryService,
  type ClientStatusRequest,
  type ClientStatusResponse,
} from "@xdstp/protos/status";

import type { AnswerStatus } from "./client-status.ts";
import type { StatusViewOf } from "./access/create-access.ts";

/** The methods of client status. */
export const FETCH_STATUS =
  "/envoy.service.status.v3.ClientStatusDiscoveryService/FetchClientStatus";
export const STREAM_STATUS =
  "/envoy.service.status.v3.ClientStatusDiscoveryService/StreamClientStatus";

const binaryOnly =
  "resources are of any type and shown in binary: set exclude_resource_contents, or send application/grpc or application/proto";

/** The callers that may read client status. Absent members do not restrict. */
export interface StatusReaders {
  /** Returns true if a caller may read the status of all clients. Called for each request. */
  readonly mayRead?: (peer: CallPeer) => boolean | Promise<boolean>;
  /** Returns the part that a caller may read. */
  readonly viewOf?: StatusViewOf | undefined;
}

/**
 * Returns client status as routes: as one response, and as a stream with one response for each
 * request (B-CSDS-1). Callers without permission get PERMISSION_DENIED (B-CSDS-7).
 */
export function statusRoutes(
  answer: AnswerStatus,
  { mayRead = () => true, viewOf }: StatusReaders = {},
): (router: MethodRouter) => void {
  const respond = async (
    path: string,
    request: ClientStatusRequest,
    { peer, signal, requestHeader }: MethodCall,
  ): Promise<ClientStatusResponse> => {
    if (!(await mayRead(peer)))
      throw new XdsError("PERMISSION_DENIED", "this client may not read the status of others");
    if (
      !request.excludeResourceContents &&
      requestHeader.get("content-type")?.includes("json") === true
    )
      throw new XdsError("UNIMPLEMENTED", binaryOnly);
    const view = await viewOf?.(peer, path, signal);
    if (view !== undefined && "code" in view) throw statusError(view);
    const response = await answer(request, { peer, signal, view });
    if ("code" in response) throw statusError(response);
    return response;
  };
  return (router) => {
    router.service(ClientStatusDiscoveryService, {
      fetchClientStatus: (request, call) => respond(FETCH_STATUS, request, call),
      async *streamClientStatus(requests, context) {
        for await (const request of untilAborted(requests, context.signal))
          yield await respond(STREAM_STATUS, request, context);
      },
    });
  };
}

/**
 * Yields the messages of a call until its signal aborts, then throws the reason of the signal, even
 * while it waits for the next message. Otherwise the call would not end.
 */
async function* untilAborted<T>(
  messages: AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T> {
  const iterator = messages[Symbol.asyncIterator]();
  for (;;) {
    const next = await orAbort(iterator.next(), signal);
    if (next.done === true) return;
    yield next.value;
  }
}

async function orAbort<T>(task: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => {
      reject(signal.reason as Error);
    };
    if (signal.aborted) onAbort();
  });
  signal.addEventListener("abort", onAbort);
  try {
    return await Promise.race([task, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** Returns a status as an error that a handler throws to end its call with this status. */
export function statusError({ code, message }: Status, context?: XdsErrorContext): XdsError {
  return new XdsError(statusNameOf(code) ?? "UNKNOWN", message, context);
}
