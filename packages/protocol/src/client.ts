/**
 * The client, as far as both variants share it: a feed over one stream at a time, the state of each
 * subscribed name, ACK and NACK.
 *
 * @packageDocumentation
 */
export {
  createClientContext,
  type ClientContext,
  type ClientContextOptions,
  type Connect,
} from "./client/client-context.ts";
export { createClientFeed, type ClientFeed } from "./client/client-feed.ts";
export type { ClientEvent } from "./client/client-event.ts";
export { defaultClientLimits, type ClientLimits } from "./client/client-limits.ts";
export type { ClientStatus, ClientTypeStatus, WantStatus } from "./client/client-status.ts";

// For authors of a variant.
export type {
  Absence,
  AbsenceClassifier,
  ClientVariant,
  RequestChanges,
  TypeSetup,
} from "./client/variant.ts";
export type { WantState } from "./client/knowledge.ts";
export type { Wanted, WantedCollection, WantedName } from "./client/wanted.ts";
export type { WantedReader } from "./client/wanted-index.ts";
export { createAbsenceClassifier } from "./client/classify-absence.ts";
export { allParts, type ClientParts, nameParts } from "./client/client-parts.ts";
export { requestNames } from "./client/request-names.ts";
export { readText } from "./client/read-fields.ts";
export { readAny, readResource } from "./client/read-resource.ts";
export { readResponse, type ResponseFields } from "./client/read-response.ts";
export type { ReceivedName, ReceivedResource, ReceivedResponse } from "./client/received.ts";
