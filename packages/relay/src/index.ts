/**
 * A relay: a server over a cache over a federation, and what it adds to that sentence.
 *
 * ```ts
 * const relay = createRelay({ bootstrap: { file: "bootstrap.json" } });
 * const server = createServer({ source: relay.source });
 * ```
 *
 * @packageDocumentation
 */
export { createRelay } from "./create-relay.ts";
export type { Relay, RelayOptions } from "./relay.ts";
export type { RelayEvent } from "./relay-event.ts";
export type { LookUps, RelayStatus, UpstreamStatus } from "./status/relay-status.ts";
