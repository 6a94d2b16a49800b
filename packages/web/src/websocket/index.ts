/**
 * Typed configuration for browsers and other runtimes, over a WebSocket.
 *
 * ```ts
 * const client = createWebSocketClient({ url: "wss://config.example" });
 * client.watch(messageType(FlagSchema), "xdstp://acme.example/acme.v1.Flag/dark", ({ value }) => show(value));
 * ```
 *
 * @packageDocumentation
 */
export { createWebSocketClient, type WebSocketClientOptions } from "./web-socket-client.ts";
export type { WebNode } from "./encode-node.ts";
export type { SocketLike } from "./socket-stream.ts";

// As `@xdstp/web` has them.
export type { WebClient, WebOptions, WebWatch, WebWatchOptions } from "../watch-client.ts";
export { messageType, type ValueOf, type WebType } from "../web-type.ts";
export { createStateStore, type StateStore, type StoredResource } from "../state-store.ts";
export type { WatchState } from "../watch-state.ts";
export { XdsError } from "@xdstp/core";
