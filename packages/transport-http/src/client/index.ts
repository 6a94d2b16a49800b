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
export type { FetchLike } from "./fetch-like.ts";
