import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import { StatusCode, type ByteStream, type Status } from "@xdstp/core";
import { serveConnectCall } from "./connect-call.ts";
import type { ConnectRoutes } from "./connect-routes.ts";
import type { Connection } from "./connection.ts";
import type { Connections } from "./connections.ts";
import type { GrpcContext } from "./grpc-context.ts";
import { isPeerFault, type StreamCut } from "./grpc-event.ts";
import {
  headerListSize,
  isGrpcContentType,
  parseGrpcTimeout,
  speaksGrpc,
} from "../wire/request-headers.ts";
import { openRawCall, type AcceptCall, type RawCallHost } from "./raw-call.ts";
import { rejectWithHttp, rejectWithStatus } from "./end-request.ts";
import type { HttpCalls } from "./http-call.ts";
import type { Tally } from "./tally.ts";

/** A request as it arrives over HTTP/2. */
export interface IncomingCall {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  readonly flags: number;
  readonly rawHeaders: readonly string[];
}

/** Passes each request to the code that serves it. */
export interface CallDispatch {
  open(call: IncomingCall): void;
  /** Rejects new calls. With `now`, also ends every streaming call after its queued messages. */
  drain(now: boolean): void;
}

/** The code that serves calls. */
export interface CallTargets {
  readonly accept: AcceptCall;
  readonly isStreaming: (path: string) => boolean;
  readonly routes: ConnectRoutes;
  /** Serves requests that are not gRPC. Absent: these are rejected. */
  readonly http: HttpCalls | undefined;
  /** The limit of open calls. */
  readonly tally: Tally;
}

/** The status of calls that are rejected because the server is closing. */
export const shuttingDown: Status = {
  code: StatusCode.UNAVAILABLE,
  message: "the server is shutting down",
};
const shownPath = 1024;
const unknownMethod: Status = { code: StatusCode.UNIMPLEMENTED, message: "unknown method" };
const notCanonical: Status = {
  code: StatusCode.UNIMPLEMENTED,
  message: "the path must be /package.Service/Method",
};
const tooMany: Status = { code: StatusCode.RESOURCE_EXHAUSTED, message: "too many calls are open" };
const badTimeout: Status = {
  code: StatusCode.INVALID_ARGUMENT,
  message: "grpc-timeout must be 1 to 8 digits and one of H M S m u n",
};

/** Creates the dispatch of one server. */
export function createCallDispatch(
  targets: CallTargets,
  context: GrpcContext,
  connections: Connections,
): CallDispatch {
  const dispatch = new Dispatch(targets, context, connections);
  return {
    open(call) {
      // Without a listener a reset by a peer would end the process. The event `close` has all that
      // is needed.
      call.stream.on("error", ignore);
      try {
        dispatch.open(call);
      } catch (error) {
        context.fault("request", error);
        giveUp(call.stream);
      }
    },
    drain(now) {
      dispatch.drain(now);
    },
  };
}

class Dispatch implements CallDispatch, RawCallHost {
  readonly #targets: CallTargets;
  readonly context: GrpcContext;
  readonly #connections: Connections;
  readonly #streams = new Set<ByteStream>();
  readonly #tally: Tally;
  #draining = false;

  constructor(targets: CallTargets, context: GrpcContext, connections: Connections) {
    this.#targets = targets;
    this.context = context;
    this.#connections = connections;
    this.#tally = targets.tally;
  }

  open(call: IncomingCall): void {
    const connection = this.#connections.of(
      call.stream.session as Parameters<Connections["of"]>[0],
    );
    const path = call.headers[":path"] ?? "";
    const headerBytes = headerListSize(call.rawHeaders);
    connection?.arrived(headerBytes);
    if (connection === undefined) call.stream.close(constants.NGHTTP2_REFUSED_STREAM);
    else if (this.#draining) reject(call, shuttingDown, 503);
    else if (headerBytes > this.context.limits.headerListBytes)
      this.#cut(call, connection, "headers-too-large", this.#tooLarge(headerBytes), 431);
    else if (this.#isHttp(call.headers, path)) this.#targets.http?.open(call, connection);
    else if (!isCanonicalPath(path, call.headers[":method"] === "GET"))
      this.#cut(call, connection, "not-canonical", notCanonical, 404);
    else if (this.#targets.isStreaming(path)) this.#openRaw(call, connection, path);
    else this.#openConnect(call, connection, path);
  }

  /** Returns true for a request that is neither gRPC nor a method, if such requests are served. */
  #isHttp(headers: IncomingHttpHeaders, path: string): boolean {
    const { http, routes, isStreaming } = this.#targets;
    return (
      http !== undefined &&
      !speaksGrpc(headers["content-type"]) &&
      !isStreaming(path) &&
      routes.find(path) === undefined
    );
  }

  drain(now: boolean): void {
    this.#draining = true;
    this.#targets.http?.drain();
    if (!now) return;
    for (const stream of this.#streams) stream.close(shuttingDown);
  }

  closed(call: ByteStream, { principal, streams }: Connection): void {
    this.context.counters.streams -= 1;
    this.#tally.remove(principal);
    streams.delete(call);
    this.#streams.delete(call);
  }

  #openRaw(call: IncomingCall, connection: Connection, path: string): void {
    const { stream, headers } = call;
    if (headers[":method"] !== "POST") {
      rejectWithHttp(stream, 405, { allow: "POST" });
      connection.rejected();
      return;
    }
    if (!isGrpcContentType(headers["content-type"])) {
      rejectWithHttp(stream, 415, { "accept-post": "application/grpc, application/grpc+proto" });
      connection.rejected();
      return;
    }
    const timeout = headers["grpc-timeout"];
    const deadlineMs = typeof timeout === "string" ? parseGrpcTimeout(timeout) : undefined;
    if (timeout !== undefined && deadlineMs === undefined) {
      this.#cut(call, connection, "bad-timeout", badTimeout);
      return;
    }
    if (!this.#tally.add(connection.principal)) {
      this.#cut(call, connection, "too-many-streams", tooMany);
      return;
    }
    const { counters } = this.context;
    counters.streams += 1;
    counters.streamsOpened += 1;
    const { identity } = connection;
    const peer = { address: connection.peer, ...(identity === undefined ? {} : { identity }) };
    const described = { path, peer, headers, ...(deadlineMs === undefined ? {} : { deadlineMs }) };
    const raw = openRawCall({ stream, connection, host: this }, described, this.#targets.accept);
    this.#streams.add(raw);
    connection.streams.add(raw);
    this.#countFull(connection);
  }

  #openConnect(call: IncomingCall, connection: Connection, path: string): void {
    const kind = this.#targets.routes.find(path);
    if (kind === undefined) {
      reject(call, unknownMethod, 404);
      connection.rejected();
    } else if (connection.calls >= this.context.limits.maxCallsPerConnection)
      this.#cut(call, connection, "too-many-calls", tooMany, 429);
    else if (!this.#tally.add(connection.principal))
      this.#cut(call, connection, "too-many-streams", tooMany, 429);
    else {
      call.stream.once("close", () => {
        this.#tally.remove(connection.principal);
      });
      serveConnectCall({ ...call, path, kind, connection }, this.#targets.routes, this.context);
      this.#countFull(connection);
    }
  }

  /**
   * HTTP/2 rejects the next call before it arrives here, so this counts when the last allowed call
   * is open.
   */
  #countFull({ streams, calls }: Connection): void {
    if (streams.size + calls >= this.context.limits.maxStreamsPerConnection)
      this.context.counters.connectionsFilled += 1;
  }

  #tooLarge(bytes: number): Status {
    const { headerListBytes } = this.context.limits;
    return {
      code: StatusCode.RESOURCE_EXHAUSTED,
      message: `the headers of the call are too large: ${bytes} bytes, at most ${headerListBytes}; the limit of the server is headerListBytes`,
    };
  }

  #cut(
    call: IncomingCall,
    connection: Connection,
    reason: StreamCut,
    status: Status,
    httpCode = 400,
  ): void {
    this.context.count(reason);
    this.context.emit({
      kind: "stream-cut",
      peer: connection.peer,
      path: (call.headers[":path"] ?? "").slice(0, shownPath),
      reason,
      status,
    });
    reject(call, status, httpCode);
    if (isPeerFault(reason)) connection.rejected();
  }
}

function reject(call: IncomingCall, status: Status, httpCode: number): void {
  if (speaksGrpc(call.headers["content-type"])) rejectWithStatus(call.stream, status);
  else rejectWithHttp(call.stream, httpCode);
}

/** The event `close` of the stream has all that is needed. */
function ignore(): void {
  /** see above */
}

function giveUp(stream: ServerHttp2Stream): void {
  if (!stream.destroyed && !stream.closed) stream.close(constants.NGHTTP2_INTERNAL_ERROR);
}

/**
 * Returns true if a `:path` is written in the one form that names a method: one slash before each
 * part, no escapes, no dot segments. `query` allows a query after it, which only GET has.
 *
 * Code that authorizes by path and code that routes by path must read the same path
 * (CVE-2026-33186).
 */
export function isCanonicalPath(path: string, query = false): boolean {
  const mark = path.indexOf("?");
  if (mark >= 0 && !query) return false;
  const plain = mark < 0 ? path : path.slice(0, mark);
  return /^(?:\/[\w.:~-]+)+$/.test(plain) && !/\/\.{1,2}(?:\/|$)/.test(plain);
}
