import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { CallPeer } from "./method-router.ts";

/** A request over HTTP/1.1 or HTTP/2, as Node's own servers have it. */
export type HttpRequest = IncomingMessage | Http2ServerRequest;
/** A response over HTTP/1.1 or HTTP/2, as Node's own servers have it. */
export type HttpResponse = ServerResponse | Http2ServerResponse;

/**
 * Serves requests that are not gRPC, such as xDS over REST.
 *
 * Returns true if it serves the request; it may answer later. Returns false for a request that it
 * does not serve, and then has not read or written anything. It decides by the path, synchronously:
 * `/v3/discovery:clusters` is of REST, for example.
 * The listeners of a server are called in their order until one returns true. If all return false
 * the answer is 404.
 *
 * `peer` is the caller, with the identity of its verified certificate. The path is as it was
 * received, with a query and escapes, and it may be invalid. An exception is a fault of the server,
 * and the client receives status 500.
 */
export type HttpListener = (
  request: HttpRequest,
  response: HttpResponse,
  peer: CallPeer,
) => boolean;
