import { constants, type ServerHttp2Stream } from "node:http2";
import { StatusCode, type Timer } from "@xdstp/core";
import type { ConnectRequest, ConnectRoutes } from "./connect-routes.ts";
import type { Connection } from "./connection.ts";
import { endRequest } from "./end-request.ts";
import type { GrpcContext } from "./grpc-context.ts";
import { isPeerFaultCode, type StreamCut } from "./grpc-event.ts";
import { stallTimer } from "../wire/deadlines.ts";

/** A request that Connect serves, and its connection. */
export interface ConnectCall extends Pick<
  ConnectRequest,
  "stream" | "headers" | "flags" | "rawHeaders"
> {
  readonly path: string;
  readonly kind: "one-message" | "many-messages";
  readonly connection: Connection;
}

/**
 * Serves one call through Connect, and adds limits that Connect does not have: the time in which
 * the request has to arrive, and in which the response has to be read.
 * A client that sends many messages may pause for any time.
 */
export function serveConnectCall(
  call: ConnectCall,
  routes: ConnectRoutes,
  context: GrpcContext,
): void {
  const { stream, connection, kind } = call;
  let timer: Timer | undefined;
  const limit = (ms: number, reason: StreamCut, moved: () => number): void => {
    timer?.cancel();
    timer = stallTimer(context.clock, {
      ms,
      leastBytes: (context.limits.minBytesPerSecond * ms) / 1_000,
      moved,
      onStalled: () => {
        cut(call, reason, context);
      },
    });
  };
  connection.opensCall();
  countOpen(context, connection, 1);
  creditBody(stream, connection);
  stream.once("close", () => {
    timer?.cancel();
    countOpen(context, connection, -1);
    if (isRejected(stream)) connection.rejected();
  });
  stream.once("finish", () => {
    endRequest(stream);
  });
  if (!stream.endAfterHeaders && kind === "one-message") {
    limit(context.limits.messageMs, "slow-message", () => connection.meter.receivedBytes);
    stream.once("end", () => {
      timer?.cancel();
    });
  }
  const { peer, identity } = connection;
  routes.serve({
    ...call,
    peer: { address: peer, ...(identity === undefined ? {} : { identity }) },
    onResponse: () => {
      if (kind === "one-message")
        limit(context.limits.stalledMs, "not-reading", () => connection.meter.sentBytes);
    },
    onFault: () => {
      reset(stream, constants.NGHTTP2_INTERNAL_ERROR);
    },
  });
}

/** HTTP codes with which Connect rejects an invalid request. */
const peerFaultHttpCodes: ReadonlySet<unknown> = new Set([400, 405, 415, 501]);

/**
 * Returns true if Connect has rejected a call, by the headers and trailers that it sent. Over
 * gRPC-Web the status is in the body, so such a call is not recognized.
 */
function isRejected({ headersSent, sentHeaders, sentTrailers }: ServerHttp2Stream): boolean {
  const code = sentTrailers?.["grpc-status"];
  if (code !== undefined) return isPeerFaultCode(Number(code));
  return headersSent && peerFaultHttpCodes.has(sentHeaders[":status"]);
}

/** Counts the bytes of the body, which Connect reads itself. */
function creditBody(stream: ServerHttp2Stream, connection: Connection): void {
  const push = stream.push.bind(stream);
  stream.push = (chunk: unknown, encoding?: BufferEncoding): boolean => {
    if (chunk instanceof Uint8Array) connection.credit(chunk.length);
    return push(chunk, encoding);
  };
}

function countOpen(context: GrpcContext, connection: Connection, change: 1 | -1): void {
  connection.calls += change;
  context.counters.calls += change;
  if (change > 0) context.counters.callsOpened += 1;
}

function cut(call: ConnectCall, reason: StreamCut, context: GrpcContext): void {
  const status = {
    code: StatusCode.DEADLINE_EXCEEDED,
    message: "the call took too long to arrive or to be read",
  };
  context.count(reason);
  context.emit({ kind: "stream-cut", peer: call.connection.peer, path: call.path, reason, status });
  reset(call.stream, constants.NGHTTP2_ENHANCE_YOUR_CALM);
}

function reset(stream: ServerHttp2Stream, code: number): void {
  if (stream.destroyed) return;
  stream.close(code);
  stream.destroy();
}
