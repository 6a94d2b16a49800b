/**
 * Typed configuration for browsers and other runtimes, over HTTP.
 *
 * ```ts
 * const client = createWebClient({ origin: "https://config.example" });
 * client.watch(jsonType<Flag>("acme.v1.Flag"), "xdstp://acme.example/acme.v1.Flag/dark", ({ value }) => show(value));
 * ```
 *
 * @packageDocumentation
 */
export { createWebClient, type WebClientOptions } from "./web-client.ts";
export type { WebClient, WebOptions, WebWatch, WebWatchOptions } from "./watch-client.ts";
export { jsonType, messageType, type ValueOf, type WebType } from "./web-type.ts";
export { createStateStore, type StateStore, type StoredResource } from "./state-store.ts";
export type { WatchState } from "./watch-state.ts";
export { XdsError } from "@xdstp/core";
export type { FetchLike, OriginOf } from "@xdstp/transport-http/client";
