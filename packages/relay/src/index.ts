/**
 * A relay: a server over a cache over a federation, and what it adds to that sentence.
 *
 * ```ts
 * const relay = createRelay({ bootstrap: { file: "bootstrap.json" } });
 * const server = createServer({ ...relay.serving });
 * ```
 *
 * @packageDocumentation
 */
export { createRelay } from "./create-relay.ts";
export type { Relay, RelayOptions, RelayPeer } from "./relay.ts";
export type { ClientNode } from "./opaque/node-key.ts";
export type { RelayEvent, TenantStatus } from "./relay.ts";
export type { QuorumOptions } from "@xdstp/rollout";
export type { RejectedVersion } from "@xdstp/protocol/server";
export { openSnapshot } from "./snapshot/snapshot-store.ts";
export type { Snapshot, SnapshotOptions } from "./snapshot/snapshot.ts";
export { SnapshotInUse } from "./snapshot/snapshot-lock.ts";
export type { SnapshotEvent } from "./snapshot/snapshot.ts";
export type { RelayStatus, UpstreamStatus } from "./relay.ts";

// What the options name of bootstraps and connections.
export type { AnyBootstrap, Channels, JsonObject, JsonValue, NodeOptions } from "@xdstp/bootstrap";
