/**
 * The contract of xdstp: the interfaces of feeds, sources, resource types and byte streams.
 *
 * @packageDocumentation
 */
export type { AnyBytes, Entry, Interest, Resource, Scope, StoredResource } from "./resource.ts";
export type { ResourceSource, Topic, Watcher } from "./source.ts";
export { systemClock, type Clock, type Timer } from "./clock.ts";
export { nextTurn } from "#platform";
export { createDeadlines, type Deadlines } from "./deadlines.ts";
export {
  statusNameOf,
  StatusCode,
  type Status,
  type StatusName,
  isLate,
  isSameError,
  XdsError,
  type XdsErrorContext,
  type Fault,
} from "./xds-error.ts";
export { isDeeperThan, maxMetadataDepth } from "./node-info.ts";

// For authors of feeds, resource types and byte streams.
export type {
  Committed,
  Held,
  Put,
  Refresh,
  Rejection,
  Removal,
  ResourceFeed,
  ResourceSink,
  Transaction,
  TypedInterest,
} from "./feed.ts";
export { CompactedLog } from "./compacted-log.ts";
export { forwardSink, forwardSource } from "./forward.ts";
export { whenDecided } from "./feed.ts";
export type { KeptFeed, ResourceSnapshot, SnapshotScope } from "./resource-snapshot.ts";
export { createBackoff, type BackoffOptions } from "./clock.ts";
export type { Reference, ResourceType, MessageType } from "./resource-type.ts";
export type { ByteStream, ByteStreamHandler, Message } from "./byte-stream.ts";

// Dynamic parameters (TP2): which clients a variant of a resource is for, and whether two variants
// exclude each other.
export { type Constraints, keysOfConstraints, conflictOf } from "./constraints/constraints.ts";
export { encodeConstraints } from "./constraints/constraints-message.ts";
export { matchesConstraints, overlapOf } from "./constraints/constraints.ts";
export { readConstraints } from "./constraints/constraints-message.ts";
export { textOfConstraints } from "./constraints/constraints.ts";
export { interestKey, InterestMap } from "./interest-map.ts";

// The identity of a client: the node that it sends, and the names in its certificate.
export type { NodeClaim, NodeInfo, PeerIdentity } from "./node-info.ts";
