import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer as createHttp1 } from "node:http";
import {
  constants,
  createServer as createHttp2,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Stream,
} from "node:http2";
import type { Socket } from "node:net";
import { type Status, StatusCode } from "@xdstp/core";
import type { ConnectRequest } from "./connect-routes.ts";
import type { Connection } from "./connection.ts";
import type { Connections } from "./connections.ts";
import { endRequest } from "./end-request.ts";
import type { GrpcContext } from "./grpc-context.ts";
import type { StreamCut } from "./grpc-event.ts";
import type { Http1Connection } from "./http1-connection.ts";
import type { HttpListener, HttpRequest, HttpResponse } from "./http-listener.ts";
import { stallTimer } from "../wire/deadlines.ts";
import type { Tally } from "./tally.ts";

/** Serves requests that are not gRPC, with the limits of calls. */
export interface HttpCalls {
  /** Serves a request of an HTTP/2 connection. */
  open(
    call: Pick<ConnectRequest, "stream" | "headers" | "flags" | "rawHeaders">,
    connection: Connection,
  ): void;
  /** Serves an HTTP/1.1 connection. */
  readonly connect: (socket: Socket) => void;
  /** Answers new requests over HTTP/1.1 with 503. */
  drain(): void;
}

/** The parts of a server that {@link HttpCalls} uses. */
export interface HttpHost {
  readonly context: GrpcContext;
  readonly connections: Connections;
  /** The limit of open calls. */
  readonly tally: Tally;
}

/** Creates what serves the requests of one server through `listeners`. */
export function createHttpCalls(listeners: readonly HttpListener[], host: HttpHost): HttpCalls {
  const { context, connections } = host;
  const serve = (call: HttpCall): void => {
    serveCall(call, listeners, host);
  };
  // Creates Node's request and response objects; it never listens.
  const callOf = new WeakMap<ServerHttp2Stream, Connection>();
  const objects = createHttp2((request, response) => {
    const connection = callOf.get(request.stream);
    if (connection !== undefined) serve(http2Call(request, response, connection));
  });
  const http1 = createHttp1Server(context, connections);
  let draining = false;
  http1.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const connection = connections.ofSocket(request.socket);
    if (connection === undefined) {
      request.socket.destroy();
      return;
    }
    const code = draining
      ? 503
      : connection.calls >= context.limits.maxCallsPerConnection
        ? 429
        : 0;
    connection.opensCall(response);
    response.once("close", () => {
      connection.endsCall(response);
    });
    const call = http1Call(request, response, connection);
    if (code === 0) serve(call);
    else {
      if (code === 429) report(call, "too-many-calls", context);
      rejectCall(call, code);
    }
  });
  return {
    open({ stream, headers, flags, rawHeaders }, connection) {
      callOf.set(stream, connection);
      objects.emit("stream", stream, headers, flags, rawHeaders);
    },
    connect(socket) {
      if (connections.openHttp1(socket) === undefined) return;
      socket.setNoDelay(true);
      http1.emit("connection", socket);
    },
    drain() {
      draining = true;
    },
  };
}

/** Creates Node's HTTP/1.1 server. It never listens: the connections are those of the port. */
function createHttp1Server({ limits }: GrpcContext, connections: Connections): Server {
  const server = createHttp1({
    maxHeaderSize: limits.headerListBytes,
    // Only for the header `keep-alive`: the connection ends itself at this time.
    keepAliveTimeout: limits.httpIdleMs,
    headersTimeout: 0,
    requestTimeout: 0,
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    const connection = connections.ofSocket(socket);
    if (connection === undefined || error.code?.startsWith("HPE_") !== true) socket.destroy();
    else
      connection.cut(
        "protocol-error",
        error.code === "HPE_HEADER_OVERFLOW"
          ? "431 Request Header Fields Too Large"
          : "400 Bad Request",
      );
  });
  return server;
}

/** One request, over either version of HTTP. */
interface HttpCall {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly connection: Connection | Http1Connection;
  readonly isBodyEnded: boolean;
  /** Bytes that the connection has received and sent so far. */
  readonly received: () => number;
  readonly sent: () => number;
  /** Returns true if a part of the response waits to be sent. */
  readonly isQueued: () => boolean;
  /** Called when bytes of the body were received. */
  readonly credit: (bytes: number) => void;
  /** Ends the request at once; a response that has begun is incomplete then. */
  readonly reset: (code: number) => void;
}

function http1Call(
  request: IncomingMessage,
  response: ServerResponse,
  connection: Http1Connection,
): HttpCall {
  const { socket } = connection;
  return {
    request,
    response,
    connection,
    isBodyEnded: !("content-length" in request.headers || "transfer-encoding" in request.headers),
    received: () => socket.bytesRead,
    sent: () => socket.bytesWritten - socket.writableLength,
    isQueued: () => response.writableLength > 0 || socket.writableLength > 0,
    credit: () => undefined,
    reset: () => {
      socket.destroy();
    },
  };
}

function http2Call(
  request: Http2ServerRequest,
  response: Http2ServerResponse,
  connection: Connection,
): HttpCall {
  const { stream } = request;
  return {
    request,
    response,
    connection,
    isBodyEnded: stream.endAfterHeaders,
    received: () => connection.meter.receivedBytes,
    sent: () => connection.meter.sentBytes,
    isQueued: () => stream.writableLength > 0,
    credit: (bytes) => {
      connection.credit(bytes);
    },
    reset: (code) => {
      if (stream.destroyed) return;
      stream.close(code);
      stream.destroy();
    },
  };
}

const unserved: Status = {
  code: StatusCode.DEADLINE_EXCEEDED,
  message: "the request took too long to arrive, or its response to be read",
};
const rejectedStatus: Status = {
  code: StatusCode.RESOURCE_EXHAUSTED,
  message: "a limit of the server is reached",
};
const shownPath = 1024;

function serveCall(call: HttpCall, listeners: readonly HttpListener[], host: HttpHost): void {
  const { request, response, connection } = call;
  const { context, tally } = host;
  const { limits } = context;
  response.on("error", ignore);
  request.on("error", ignore);
  if (Number(request.headers["content-length"] ?? 0) > limits.maxMessageBytes) {
    report(call, "too-large", context);
    rejectCall(call, 413);
    return;
  }
  if (!tally.add(connection.principal)) {
    report(call, "too-many-streams", context);
    rejectCall(call, 429);
    return;
  }
  countOpen(call, context, 1);
  const stop = watchCall(call, context);
  response.once("close", () => {
    stop();
    tally.remove(connection.principal);
    countOpen(call, context, -1);
  });
  if ("stream" in response) {
    (connection as Connection).opensCall();
    const { stream } = response;
    stream.once("finish", () => {
      endRequest(stream);
    });
  }
  const { identity, peer } = connection;
  const caller = { address: peer, ...(identity === undefined ? {} : { identity }) };
  try {
    if (listeners.some((listener) => listener(request, response, caller))) return;
  } catch (error) {
    context.fault(`http listener, ${pathOf(request)}`, error);
    if (response.headersSent) call.reset(constants.NGHTTP2_INTERNAL_ERROR);
    else rejectCall(call, 500);
    return;
  }
  rejectCall(call, 404);
}

/** Ends the request if its body, or the reading of its response, is too slow or the body too large. Returns a function that ends the watch. */
function watchCall(call: HttpCall, context: GrpcContext): () => void {
  const { limits, clock } = context;
  const { request, received, sent, isQueued } = call;
  const cut = (reason: StreamCut): void => {
    report(call, reason, context);
    call.reset(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  };
  const response = stallTimer(clock, {
    ms: limits.stalledMs,
    leastBytes: (limits.minBytesPerSecond * limits.stalledMs) / 1_000,
    moved: sent,
    expects: isQueued,
    onStalled: () => {
      cut("not-reading");
    },
  });
  if (call.isBodyEnded)
    return () => {
      response.cancel();
    };
  const body = stallTimer(clock, {
    ms: limits.messageMs,
    leastBytes: (limits.minBytesPerSecond * limits.messageMs) / 1_000,
    moved: received,
    onStalled: () => {
      cut("slow-message");
    },
  });
  watchBody(request, {
    onBytes(bytes, all) {
      call.credit(bytes);
      if (all > limits.maxMessageBytes) cut("too-large");
    },
    onEnd: () => {
      body.cancel();
    },
  });
  return () => {
    response.cancel();
    body.cancel();
  };
}

/**
 * Watches the bytes of a body as they arrive. Whoever reads it may do so later, or never: then it
 * ends when the connection buffers no more.
 */
function watchBody(
  request: HttpRequest,
  on: { readonly onBytes: (bytes: number, all: number) => void; readonly onEnd: () => void },
): void {
  const source = "stream" in request ? request.stream : request;
  const push = source.push.bind(source);
  let all = 0;
  source.push = (chunk: unknown, encoding?: BufferEncoding): boolean => {
    if (chunk === null) on.onEnd();
    else if (chunk instanceof Uint8Array) {
      all += chunk.length;
      on.onBytes(chunk.length, all);
    }
    return push(chunk, encoding);
  };
}

/** Rejects a request. An HTTP/1.1 connection then ends, so that a peer cannot repeat it cheaply. */
function rejectCall({ request, response, connection }: HttpCall, code: number): void {
  request.resume();
  const body = code === 404 ? "this server has no such path\n" : "";
  if ("stream" in response) {
    response.writeHead(code, { "content-type": "text/plain" });
    if (code !== 503 && code !== 500) (connection as Connection).rejected();
  } else {
    response.shouldKeepAlive = false;
    response.writeHead(code, { "content-type": "text/plain", "content-length": body.length });
  }
  response.end(body);
}

function report(call: HttpCall, reason: StreamCut, context: GrpcContext): void {
  const status = reason === "slow-message" || reason === "not-reading" ? unserved : rejectedStatus;
  context.count(reason);
  context.emit({
    kind: "stream-cut",
    peer: call.connection.peer,
    path: pathOf(call.request),
    reason,
    status,
  });
}

function countOpen({ connection }: HttpCall, { counters }: GrpcContext, change: 1 | -1): void {
  connection.calls += change;
  counters.calls += change;
  if (change > 0) counters.callsOpened += 1;
}

function pathOf({ url = "" }: HttpRequest): string {
  return url.slice(0, shownPath);
}

/** The event `close` of the response has all that is needed. */
function ignore(): void {
  /** see above */
}
