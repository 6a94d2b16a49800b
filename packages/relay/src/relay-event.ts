import type { JsonValue } from "@xdstp/bootstrap";
import type { CacheEvent } from "@xdstp/cache";
import type { FederationEvent } from "@xdstp/federation";

import type { SnapshotEvent } from "./snapshot/snapshot-event.ts";
import type { RejectionEvent } from "./rejections/rejection-book.ts";

/** What an operator of a relay should know; what happens on the streams upstream is in the `ClientNotice`s. */
export type RelayEvent =
  CacheEvent | FederationEvent | OpaqueEvent | LimitEvent | RejectionEvent | SnapshotEvent;

/** What becomes of opaque names (B-RELAY-2). */
export type OpaqueEvent =
  /** Clients subscribe to opaque names, and there is no key for these. Reported once per type and turn, for names without earlier subscribers. */
  | {
      readonly kind: "opaque-rejected";
      readonly typeUrl: string;
      readonly names: readonly string[];
      readonly reason: string;
    }
  /** Clients with these values of `opaqueKey` have to wait: there are more than `maxTenants`. */
  | {
      readonly kind: "tenant-rejected";
      readonly values: Readonly<Record<string, JsonValue>>;
      readonly reason: string;
    };

/** Clients subscribe to more names than the relay subscribes to at a server upstream (`upstreamNames`): these have to wait. Reported once per type and turn. */
export interface LimitEvent {
  /** Clients subscribe to more than the relay does at a server upstream. */
  readonly kind: "upstream-full";
  /** The URI of the server. */
  readonly server: string;
  /** The type URL of the names. */
  readonly typeUrl: string;
  /** The names that have to wait. */
  readonly names: readonly string[];
  /** Which limit is reached, and what raises it. */
  readonly reason: string;
}
