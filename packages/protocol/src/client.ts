/**
 * The client end, as far as both variants share it: a feed over one stream at a time, the state of each subscribed name, ACK and NACK.
 *
 * @packageDocumentation
 */
export {
  createClientContext,
  type ClientContext,
  type ClientContextOptions,
  type Connect,
  type RequestRate,
} from "./client/client-context.ts";
export { createClientFeed, type ClientFeed } from "./client/client-feed.ts";
export type { ClientEvent, RejectedName } from "./client/client-event.ts";
export { defaultClientLimits, type ClientLimits } from "./client/client-limits.ts";
export type {
  ClientCounts,
  ClientStatus,
  ClientTypeStatus,
  WantStatus,
} from "./client/client-status.ts";
export type { RejectedState, Want, WantState } from "./client/want.ts";

// For authors of a variant.
export type { Absence, Answer, ClientVariant, Subscriptions } from "./client/variant.ts";
export { Wants } from "./client/wants.ts";
export { typeUrlIn } from "./client/type-url-in.ts";
export { readAny, readResource, readResourceName } from "./client/read-resource.ts";
export { readIdentifier } from "./client/read-identifier.ts";
export { readError } from "./client/read-error.ts";
export { readText } from "./client/read-text.ts";
export type { ReceivedName, ReceivedResource, ReceivedResponse } from "./client/received.ts";
