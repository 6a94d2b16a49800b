/**
 * A cache that indexes, numbers and shares resources: feeds write, readers follow topics.
 *
 * ```ts
 * const cache = createCache();
 * cache.put({ typeUrl: "type.googleapis.com/acme.Flag", name: "xdstp://acme/acme.Flag/dark-mode", value: bytes });
 * ```
 *
 * @packageDocumentation
 */
export type { Cache, CacheOptions, FeedHandle } from "./cache.ts";
export { createCache } from "./cache-core.ts";
export type { MessageType, NodeClaim } from "@xdstp/core";
export { createNodeCaches, type NodeCaches, nodeField } from "./nodes/create-node-caches.ts";
export type { NodeContent } from "./nodes/node-layer.ts";
export type { Author, PutCall, PutOptions, RawResource, TransactionWriter } from "./author.ts";
export { createPollFeed } from "./create-poll-feed.ts";
export type { DanglingEvent, DanglingReference, DanglingWatch } from "./dangling/references.ts";
export { watchDangling } from "./dangling/watch-dangling.ts";
export type { CacheEvent } from "./cache-event.ts";

// For readers and tests that need resources in the form of the cache.
export { keepResource } from "./kept-resource.ts";
export { contentVersion } from "./content-version.ts";
