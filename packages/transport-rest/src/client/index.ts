/**
 * The client's end of REST-JSON polling: a channel that turns SotW streams into polls.
 *
 * @packageDocumentation
 */
export type { FetchLike } from "./fetch-like.ts";
export { createRestChannel, type RestChannel, type RestChannelOptions } from "./rest-channel.ts";
