import type { IncomingMessage, ServerResponse } from "node:http";
import { constants, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import type { PeerIdentity } from "@xdstp/core";

import type { RestAnswer, RestHandler } from "./rest-handler.ts";

/**
 * Returns a listener for the event `request` of an HTTP server of Node: HTTP/1.1 or HTTP/2, with or
 * without TLS.
 * @param identityOf - returns the identity of a client from its connection. Default: none. If it throws, the client gets status 500
 */
export function createRestListener(
  handler: RestHandler,
  identityOf: (request: IncomingMessage | Http2ServerRequest) => PeerIdentity | undefined = () =>
    undefined,
): (
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
) => void {
  const readIdentity = (
    request: IncomingMessage | Http2ServerRequest,
  ): PeerIdentity | "failed" | undefined => {
    try {
      return identityOf(request);
    } catch {
      return "failed";
    }
  };
  return (request, response) => {
    const identity = readIdentity(request);
    if (identity === "failed") {
      response.on("error", ignore);
      response.statusCode = 500;
      response.end();
      return;
    }
    const { remoteAddress = "", remotePort = 0 } = request.socket;
    serve(handler, request, response, {
      address: `${remoteAddress}:${remotePort}`,
      ...(identity !== undefined && { identity }),
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
 * Returns a listener for the option `http` of `createServer` of `@xdstp/server`, which serves polls
 * on the port of the server. It returns false for paths that are not those of a type.
 */
export function createRestRoute(
  handler: RestHandler,
): (
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
  peer: Caller,
) => boolean {
  return (request, response, peer) => {
    if (!handler.serves(pathOf(request))) return false;
    serve(handler, request, response, peer);
    return true;
  };
}

function serve(
  handler: RestHandler,
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
  { address, identity }: Caller,
): void {
  const ended = new AbortController();
  response.on("close", () => {
    ended.abort();
  });
  response.on("error", ignore);
  void handler
    .handle({
      method: request.method ?? "",
      path: pathOf(request),
      header: (name) => {
        const value = request.headers[name];
        return Array.isArray(value) ? value.join(", ") : value;
      },
      body: async (atMost) => readBody(request, atMost),
      peer: address,
      ...(identity !== undefined && { identity }),
      signal: ended.signal,
    })
    .then((answer) => {
      send(response as ServerResponse, answer);
      // The rest of a body that was not read must not block the connection.
      request.resume();
    });
}

function pathOf({ url = "" }: { readonly url?: string | undefined }): string {
  return url.split("?", 1)[0] ?? "";
}

function send(response: ServerResponse, { status, headers, body, delivered }: RestAnswer): void {
  if (response.destroyed) return;
  response.on("finish", () => {
    if (!wasReset(response)) delivered();
  });
  response.writeHead(status, {
    ...headers,
    ...(body !== undefined && { "content-length": String(body.length) }),
  });
  response.end(body);
}

/** Over HTTP/2, `finish` comes also when the client has reset the stream. */
function wasReset(response: ServerResponse | Http2ServerResponse): boolean {
  return "stream" in response && response.stream.rstCode !== constants.NGHTTP2_NO_ERROR;
}

async function readBody(
  request: IncomingMessage | Http2ServerRequest,
  atMost: number,
): Promise<Uint8Array | undefined> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Uint8Array>) {
    size += part.length;
    if (size > atMost) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** A client that disconnects is not a fault; `close` follows. */
function ignore(): void {
  // see above
}
