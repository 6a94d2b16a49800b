/**
 * The client's end of native HTTP. Needs `fetch` only, and nothing of Node.
 *
 * @packageDocumentation
 */
export {
  followResource,
  type FollowedResource,
  type FollowedState,
  type FollowOptions,
} from "./follow-resource.ts";
export { createHttpFeed, type HttpFeed } from "./http-feed.ts";
export type { HttpFeedOptions } from "./http-feed-options.ts";
export type { FollowedNameStatus } from "./followed-name.ts";
export { type OriginOf, urlOfName } from "./url-of-name.ts";
export type { FetchLike } from "./fetch-like.ts";
