/**
 * The server, as far as both variants share it: streams and their types, shared frames with nonces,
 * the order of sending, and the differences between clients as data.
 *
 * @packageDocumentation
 */
export type { ServerCall, ServerStream, Variant } from "./stream/server-stream.ts";
export { createVariantServer, type VariantServer } from "./stream/variant-server.ts";
export {
  createServerContext,
  type ServerContext,
  type ServerContextOptions,
} from "./stream/server-context.ts";
export { createScheduler, type Drainable, type Scheduler } from "./stream/scheduler.ts";
export { defaultLimits, type StreamLimits } from "./stream/limits.ts";
export type { LimitCounts } from "./stream/limits.ts";
export { excessOfNames } from "./subscription/excess-of-names.ts";
export { isLongerThan } from "./subscription/excess-of-names.ts";
export { locatorsOf } from "./subscription/locators.ts";
export { quirksOf, type ClientQuirks, type Quirk } from "./stream/quirks.ts";
export { announcesTtl, nodeInfoOf, takesWrapped } from "./stream/node-info.ts";
export type { RejectedVersion } from "./stream/stream-event.ts";
export type {
  HeldByResponse,
  ListeningSource,
  MissedReference,
  NackError,
  StreamEvent,
  StreamInfo,
} from "./stream/stream-event.ts";
export type { HeldBackName, Hold, HoldPhase } from "./order/hold.ts";
export type { LastError, StreamStatus, TypeStatus } from "./delivery/type-status.ts";
export { carries, deliveryOf, type Delivery } from "./delivery/delivery-of.ts";
export type { TypeView } from "./delivery/type-view.ts";

// For authors of a variant.
export {
  controlPlaneFields,
  type Fields,
  sizeOf,
  splitFields,
  withHeartbeats,
} from "./delivery/frame-parts.ts";
export { createFrame, type Frame } from "./delivery/frame.ts";
export { type FrameCounters, type FrameProfile, type Frames } from "./delivery/frame-cache.ts";
export { type NotSent } from "./delivery/not-sent.ts";
export { type BeatOutcome, type Beating } from "./stream/heartbeats.ts";
export {
  createLifetimes,
  isNewestNonce,
  sendHeartbeat,
  ttlsOf,
  type Lifetimes,
} from "./delivery/lifetimes.ts";
export { encodeResourceError, tooLarge } from "./delivery/resource-error.ts";
export { isDataError } from "./is-data-error.ts";
export { encodeHeartbeat } from "./delivery/encode-heartbeat.ts";
export { staysRejected, withoutHeldBack } from "./order/held-back-response.ts";
export { NO_HOLDS, type Holds } from "./order/hold.ts";
export { noteNothingSent } from "./order/note-accepted.ts";
export {
  takeRejected,
  type Exchange,
  type ExchangeOwner,
  type Rejected,
} from "./delivery/exchange.ts";
export { type Batch } from "./delivery/batch.ts";
export { sayTheSame } from "./delivery/say-the-same.ts";
export { answeredOrigin, changedOrigin, type Origin } from "./delivery/origin.ts";
export { byName } from "./delivery/entries.ts";
export { entryKey } from "./delivery/entries.ts";
export { errorText } from "./text/error-text.ts";
export { missedText } from "./text/missed-text.ts";
export { parseNonce } from "./stream/parse-nonce.ts";
export { encodeResponse, sendResponse } from "./stream/send-response.ts";
export { partition } from "./delivery/entries.ts";
export { addHash, hashOf, versionOf } from "./delivery/version-of.ts";
export {
  coveringTopic,
  coveringTopics,
  isSubscribed,
  mergeEntries,
  replaceTopic,
  subscriptionKey,
  type Subscriptions,
  topicsOf,
} from "./subscription/subscriptions.ts";
export { beginSubscription, endSubscription } from "./subscription/subscribe.ts";
export { stateHash } from "./subscription/state-hash.ts";
export { createSmallMap, type SmallMap } from "./subscription/small-map.ts";
export { createSmallSet, type SmallSet } from "./subscription/small-set.ts";
export { createServedType } from "./stream/served-type.ts";
export type {
  Gathered,
  ServedType,
  ServerVariant,
  TypeOrigin,
  TypeSetup,
  VariantNames,
  VariantRemovals,
  VariantRequests,
  VariantResponses,
} from "./stream/server-variant.ts";
export type { DecodedRequest, TypeHost, TypeMachine } from "./stream/type-machine.ts";

// Encoded messages, read without a decoder where that saves time for each request.
export { hashBytes } from "./wire/hash-bytes.ts";
export { scanRequest, type RequestScan } from "./wire/scan-request.ts";
export { withoutExtensions, withoutUnread } from "./wire/without-extensions.ts";
