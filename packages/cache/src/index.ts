/**
 * The one place that indexes, numbers and shares resources: feeds in, topics out.
 *
 * ```ts
 * const cache = createCache();
 * cache.put({ typeUrl: "type.googleapis.com/acme.Flag", name: "xdstp://acme/acme.Flag/dark-mode", value: bytes });
 * ```
 *
 * @packageDocumentation
 */
export type { Cache, CacheOptions, Revisions } from "./cache.ts";
export { createCache } from "./cache-core.ts";
export type { MessageType } from "@xdstp/core";
export {
  createNodeCaches,
  type CacheNode,
  type NodeCaches,
  nodeField,
} from "./nodes/create-node-caches.ts";
export type { NodeContent } from "./nodes/node-content.ts";
export type { Author, PutCall, PutOptions, RawResource, TransactionWriter } from "./author.ts";
export { createPollFeed, type PollFeedOptions } from "./create-poll-feed.ts";
export type { DanglingEvent, DanglingReference, DanglingWatch } from "./dangling/references.ts";
export { watchDangling } from "./dangling/watch-dangling.ts";
export type { CacheEvent } from "./cache-event.ts";
export type { FeedHandle, FeedOptions } from "./feed-runner.ts";

// For readers and tests that need the form in which the cache keeps resources.
export { keepResource } from "./kept-resource.ts";
export { contentVersion } from "./content-version.ts";
