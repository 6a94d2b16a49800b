import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { type Clock, type PeerIdentity, systemClock } from "@xdstp/core";

import type { HttpHandler } from "./http-handler.ts";
import type { HttpAnswer } from "./http-request.ts";

/** Options of {@link createHttpListener}. */
export interface HttpListenerOptions {
  /**
   * Returns the identity of a client from its connection. Default: none. If it throws, the client
   * gets status 500.
   */
  readonly identityOf?: (request: IncomingMessage | Http2ServerRequest) => PeerIdentity | undefined;
  /** Milliseconds in which a client has to read an answer, or one event. Default 60,000. */
  readonly writeMs?: number;
  /** Default: the system clock. */
  readonly clock?: Clock;
}

/**
 * Returns a listener for the event `request` of an HTTP server of Node: HTTP/1.1 or HTTP/2, with or
 * without TLS.
 */
export function createHttpListener(
  handler: HttpHandler,
  options: HttpListenerOptions = {},
): (
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
) => void {
  const { identityOf } = options;
  return (request, response) => {
    serve(handler, options, request, response as ServerResponse, () => {
      const identity = identityOf?.(request);
      const { remoteAddress = "", remotePort = 0 } = request.socket;
      return {
        address: `${remoteAddress}:${remotePort}`,
        ...(identity !== undefined && { identity }),
      };
    });
  };
}

/** A client, as its connection shows it. */
interface Caller {
  /** Address and port. */
  readonly address: string;
  /** The identity in its verified certificate. Absent: unknown. */
  readonly identity?: PeerIdentity;
}

/**
 * Returns a listener for the option `http` of `createServer` of `@xdstp/server`, which serves
 * resources on the port of the server. It serves every path by GET, HEAD and OPTIONS, so list it
 * after others; it returns false for other methods.
 */
export function createHttpRoute(
  handler: HttpHandler,
  options: Omit<HttpListenerOptions, "identityOf"> = {},
): (
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
  peer: Caller,
) => boolean {
  return (request, response, peer) => {
    if (!served.has(request.method ?? "")) return false;
    serve(handler, options, request, response as ServerResponse, () => peer);
    return true;
  };
}

const served: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

function serve(
  handler: HttpHandler,
  options: HttpListenerOptions,
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse,
  callerOf: () => Caller,
): void {
  const ended = new AbortController();
  response.on("close", () => {
    ended.abort();
  });
  // A client that disconnects is not a fault; `close` follows.
  response.on("error", () => undefined);
  answer(handler, options, { request, response, signal: ended.signal }, callerOf).catch(() => {
    if (!response.headersSent) response.statusCode = 500;
    response.end();
  });
}

/** One request and its response. */
interface Exchange {
  readonly request: IncomingMessage | Http2ServerRequest;
  readonly response: ServerResponse;
  /** Aborts when the response is over. */
  readonly signal: AbortSignal;
}

async function answer(
  handler: HttpHandler,
  { writeMs = 60_000, clock = systemClock }: HttpListenerOptions,
  { request, response, signal }: Exchange,
  callerOf: () => Caller,
): Promise<void> {
  // A body of a GET means nothing; unread, it would block the connection.
  request.resume();
  const { address, identity } = callerOf();
  const { status, headers, body } = await handler.handle({
    method: request.method ?? "",
    ...addressOf(request),
    header: (name) => {
      const value = request.headers[name];
      return Array.isArray(value) ? value.join(", ") : value;
    },
    peer: address,
    ...(identity !== undefined && { identity }),
    signal,
  });
  // Responses of HTTP/2 have no `destroyed`, and those that are over send no `close` again.
  if (signal.aborted) return;
  response.writeHead(status, headers);
  const late = (): (() => void) => {
    const timer = clock.after(writeMs, () => {
      response.destroy();
    });
    return () => {
      timer.cancel();
    };
  };
  if (isStream(body)) await writeParts({ response, signal }, body, late);
  else {
    response.on("close", late());
    response.end(body);
  }
}

async function writeParts(
  { response, signal }: Pick<Exchange, "response" | "signal">,
  parts: AsyncIterable<Uint8Array>,
  late: () => () => void,
): Promise<void> {
  response.flushHeaders();
  for await (const part of parts) {
    if (signal.aborted) return;
    if (response.write(part)) continue;
    const cancel = late();
    await new Promise<void>((resolve) => {
      response.once("drain", resolve);
      response.once("close", resolve);
    });
    cancel();
  }
  response.end();
}

function isStream(body: HttpAnswer["body"]): body is AsyncIterable<Uint8Array> {
  return body !== undefined && Symbol.asyncIterator in body;
}

/** Returns host and target. A target may be a whole URL (RFC 9112, section 3.2.2), whose host counts then. */
function addressOf({ headers, url = "" }: IncomingMessage | Http2ServerRequest): {
  readonly host: string;
  readonly target: string;
} {
  const [whole, host = "", path = ""] = /^https?:\/\/([^/?#]*)(.*)$/i.exec(url) ?? [];
  if (whole !== undefined) return { host, target: path.startsWith("/") ? path : `/${path}` };
  const authority = headers[":authority"];
  return {
    host: (typeof authority === "string" ? authority : headers.host) ?? "",
    target: url,
  };
}
