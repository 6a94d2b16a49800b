/**
 * A relay: a server over a cache over a federation, and the parts that a relay needs in addition.
 *
 * ```ts
 * const relay = createRelay({ bootstrap: { file: "bootstrap.json" } });
 * const server = createServer({ ...relay.serving });
 * ```
 *
 * @packageDocumentation
 */
export { createRelay } from "./create-relay.ts";
export type { Relay, RelayEvent, RelayOptions, UpstreamStatus } from "./relay.ts";
export type { NodeClaim } from "@xdstp/core";
export type { QuorumOptions } from "@xdstp/rollout";
export type { RejectedVersion } from "@xdstp/protocol/server";
export {
  openSnapshot,
  SnapshotInUse,
  type Snapshot,
  type SnapshotEvent,
  type SnapshotOptions,
} from "@xdstp/snapshot";

// Bootstraps and connections, used in the options.
export type { AnyBootstrap, BootstrapNode, Channels, NodeOptions } from "@xdstp/bootstrap";
