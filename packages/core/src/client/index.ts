/**
 * What the client ends of both variants share: a feed over one stream at a time, what is wanted and what has become of it, ACK and NACK.
 *
 * @packageDocumentation
 */
export {
  createClientContext,
  type ClientContext,
  type ClientContextOptions,
  type Connect,
  type RequestRate,
} from "./client-context.ts";
export { createBackoff, type Backoff, type BackoffOptions } from "./backoff.ts";
export { createClientFeed, type ClientFeed } from "./client-feed.ts";
export type { ClientEvent, RefusedName } from "./client-event.ts";
export { defaultClientLimits, type ClientLimits } from "./client-limits.ts";
export type { ClientCounts, ClientStatus, ClientTypeStatus, WantStatus } from "./client-status.ts";
export type { RefusedState, Want, WantState } from "./want.ts";

// For authors of a variant.
export type { Absence, Answer, ClientVariant, Subscriptions } from "./variant.ts";
export { Wants } from "./wants.ts";
export { typeUrlIn } from "./type-url-in.ts";
export { readAny, readResource, readResourceName } from "./read-resource.ts";
export { readIdentifier } from "./read-identifier.ts";
export { readError } from "./read-error.ts";
export { readText } from "./read-text.ts";
export type { ReceivedName, ReceivedResource, ReceivedResponse } from "./received.ts";
