/**
 * What the server ends of both variants share: the stream with its types, shared frames and their nonces, the order of sending, the differences of single clients as data.
 *
 * @packageDocumentation
 */
export {
  createServerStream,
  type ServerCall,
  type ServerStream,
  type Variant,
} from "./server-stream.ts";
export type { PeerIdentity } from "./peer-identity.ts";
export {
  createServerContext,
  type ServerContext,
  type ServerContextOptions,
} from "./server-context.ts";
export {
  createScheduler,
  type Drainable,
  type Scheduler,
  type SchedulerOptions,
} from "./scheduler.ts";
export { defaultLimits, type StreamLimits } from "./limits.ts";
export type { LimitCounts } from "./limit-counts.ts";
export type { RequestWeight } from "./request-pacer.ts";
export { excessOfNames } from "./excess-of-names.ts";
export { isLongerThan } from "./is-longer-than.ts";
export { excessOfLocators, locatorsOf, type LocatorLike, type Locators } from "./locators.ts";
export {
  quirksOf,
  type ClientQuirks,
  type MissingForm,
  type Quirk,
  type QuirkEffect,
  type TtlByVariant,
} from "./quirks.ts";
export {
  announcesTtl,
  nodeInfoOf,
  takesWrapped,
  type DynamicParameters,
  type NodeInfo,
  type NodeLike,
} from "./node-info.ts";
export type { RefusedVersion } from "./refused-version.ts";
export type {
  HeldByResponse,
  ListeningSource,
  NackError,
  StreamEvent,
  StreamInfo,
} from "./stream-event.ts";
export type {
  HeldBackName,
  LastError,
  StreamStatus,
  TypeState,
  TypeStatus,
} from "./type-status.ts";
export { carries, deliveryOf, type Delivery } from "./delivery-of.ts";
export type { TypeView } from "./type-view.ts";

// For authors of a variant.
export { createFrame, restampFrame, type Frame } from "./frame.ts";
export {
  createFrameCache,
  type FrameCache,
  type FrameCounters,
  type FrameProfile,
  type Frames,
  type NotSent,
  type TooLarge,
} from "./frame-cache.ts";
export { createRepairs, type Repairable, type Repairs } from "./repairs.ts";
export { createHeartbeats, type BeatOutcome, type Beating, type Heartbeats } from "./heartbeats.ts";
export {
  createLifetimes,
  isNewestNonce,
  refuseHeartbeat,
  sendHeartbeat,
  settledBy,
  ttlsOf,
  type HeartbeatOwner,
  type Lifetimes,
} from "./lifetimes.ts";
export type { Debtor, StuckWatch } from "./stuck-watch.ts";
export { joinArrays } from "./join-arrays.ts";
export { encodeResourceError, tooLarge } from "./resource-error.ts";
export { isDataError } from "../is-data-error.ts";
export { encodeHeartbeat } from "./encode-heartbeat.ts";
export { nextNonce } from "./nonce.ts";
export { relationsOf, type Relation } from "./relations.ts";
export { createOrdering, type OrderedStream, type Ordering } from "./ordering.ts";
export type { OrderedType } from "./ordered-type.ts";
export { heldBackOf, holdBack, leaveRefused, type HeldBack } from "./hold-back.ts";
export { answeredUpTo, baseOf, isRefusedAndNew, refusedFrom } from "./answered-up-to.ts";
export { askedBy } from "./asked-by.ts";
export {
  createExchange,
  giveBack,
  isRepetition,
  loseTopic,
  recordAnswer,
  recordSent,
  restartOf,
  type Batch,
  type Exchange,
  type ExchangeOwner,
  type Outgoing,
  type Refused,
} from "./exchange.ts";
export { sayTheSame } from "./say-the-same.ts";
export { changedOrigin, joinOrigins, type Origin } from "./origin.ts";
export { byName } from "./by-name.ts";
export { entryKey } from "./entry-key.ts";
export { errorText } from "../text/error-text.ts";
export { parseNonce } from "./parse-nonce.ts";
export { statusOf, type TypeProgress } from "./status-of.ts";
export { warmChildren } from "./warm-children.ts";
export { isColdSince, isServedBy, namesCold } from "./cold.ts";
export { partition, type Partition } from "./partition.ts";
export { addHash, hashOf, versionOf } from "./version-of.ts";
export { createSmallMap, type SmallMap } from "./small-map.ts";
export { createSmallSet, type SmallSet } from "./small-set.ts";
export { rankOf } from "./rank.ts";
export type { DecodedRequest, TypeHost, TypeMachine } from "./type-machine.ts";

// The wire, by hand where that is the hot path.
export { concatBytes } from "../wire/concat-bytes.ts";
export { hashBytes } from "../wire/hash-bytes.ts";
export { fieldHead } from "../wire/field-head.ts";
export { lengthDelimited } from "../wire/length-delimited.ts";
export { scanRequest, type RequestScan } from "../wire/scan-request.ts";
export { withoutExtensions } from "../wire/without-extensions.ts";
