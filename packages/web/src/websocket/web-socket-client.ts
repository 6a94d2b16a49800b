import { systemClock, XdsError } from "@xdstp/core";

import { createWatchClient, type WebClient, type WebOptions } from "../watch-client.ts";
import { createDeltaOrigin } from "./delta-origin.ts";
import { encodeNode, type WebNode } from "./encode-node.ts";
import { type SocketLike, streamOver } from "./socket-stream.ts";

/** Options of {@link createWebSocketClient}. Only `url` is required. */
export interface WebSocketClientOptions extends WebOptions {
  /**
   * The server, such as `wss://config.example`, without a query. The path of the gRPC method is
   * added, so that one server can tell calls apart.
   */
  readonly url: string;
  /** The page, as the server sees it. Default: the id `web`. */
  readonly node?: WebNode;
  /**
   * Opens a socket, for instance with a token as its protocol. Default: `new WebSocket(url)` of the
   * platform.
   */
  readonly connect?: (url: string) => SocketLike;
  /**
   * Milliseconds for the answer to a subscription. After that the watch has an error, and stays as
   * it is. Default 15,000.
   */
  readonly answerMs?: number;
  /** Returns a number from 0 to below 1. Default: `Math.random`. */
  readonly random?: () => number;
}

/** The method of gRPC that carries all types in one stream of the delta variant. */
const METHOD = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";

/**
 * Creates a client that watches over one WebSocket, with the watches, the states and the store of
 * `createWebClient`. The server sends changes by itself, and learns of what a watch rejects.
 *
 * A connection that ends is opened again after a pause that grows, with jitter; meanwhile all
 * states stay, and `error` has the reason. Without watches there is no connection.
 * Throws an XdsError, INVALID_ARGUMENT, for a URL that is not one of a WebSocket.
 */
export function createWebSocketClient(options: WebSocketClientOptions): WebClient {
  const {
    node = {},
    connect = (url: string) => new WebSocket(url),
    answerMs = 15_000,
    clock = systemClock,
    random = Math.random,
  } = options;
  const server = serverOf(options.url);
  const origin = createDeltaOrigin({
    server,
    open: (handler) => streamOver(connect(`${server}${METHOD}`), handler),
    node: encodeNode(node),
    clock,
    random,
    answerMs,
  });
  return createWatchClient(origin, options);
}

/** Returns the URL without a slash at its end. */
function serverOf(url: string): string {
  if (!/^wss?:\/\/[^/?#]+[^?#]*$/.test(url))
    throw new XdsError(
      "INVALID_ARGUMENT",
      `${JSON.stringify(url)} is not a URL of a WebSocket; give wss://HOST`,
    );
  return url.replace(/\/$/, "");
}
